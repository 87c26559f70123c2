package workflow

import (
	"fmt"
	"maps"
	"math"
	"strconv"
)

// WithPolicy returns the definition with other policy values, and so with another hash. A
// value is converted to the type of the one it replaces if nothing is lost by it ("12" and
// 12.0 are the int 12). A text that does not parse, a lossy number or a name the definition
// lacks is a Problem.
func (d *Definition) WithPolicy(values map[string]any) (*Definition, error) {
	c := d.clone()
	c.Policy = maps.Clone(d.Policy)
	var ps problems
	for _, name := range sortedKeys(values) {
		old, ok := d.Policy[name]
		if !ok {
			ps.unknown(Position{File: d.Name}, "policy", name, sortedKeys(d.Policy))
			continue
		}
		value, ok := convert(values[name], old)
		if !ok {
			ps.add(Position{File: d.Name}, "policy %s: %v is no %s", name, values[name], kindOf(old))
			continue
		}
		c.Policy[name] = value
	}
	if len(ps) > 0 {
		return nil, ps.err()
	}
	return finish(c, nil)
}

// convert gives value the type of like.
func convert(value, like any) (any, bool) {
	text := fmt.Sprint(value)
	switch like.(type) {
	case bool:
		switch text {
		case "true", "false":
			return text == "true", true
		}
		return nil, false
	case int64:
		if f, ok := value.(float64); ok {
			return int64(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
		}
		i, err := strconv.ParseInt(text, 10, 64)
		return i, err == nil
	case float64:
		f, err := strconv.ParseFloat(text, 64)
		return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
	}
	s, ok := value.(string)
	return s, ok
}
