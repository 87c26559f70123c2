package brain

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// number returns the number that a value is or that its text is, and whether the text marks
// it as per cent.
func number(value any) (n float64, percent, ok bool) {
	text := ""
	switch v := value.(type) {
	case json.Number:
		text = string(v)
	case float64:
		return v, false, true
	case string:
		text = strings.TrimSpace(v)
	}
	text, percent = strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n, percent, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// worded returns a value as text. Whole reports whether it was one or nothing.
func worded(value any) (text string, whole bool) {
	switch v := value.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case json.Number:
		return string(v), false
	case []any:
		lines := make([]string, len(v))
		for i := range v {
			lines[i], _ = worded(v[i])
		}
		return strings.Join(lines, "\n"), false
	case map[string]any: // such as {"text": …}, {"title": …, "description": …}
		var parts []string
		for _, key := range []string{"title", "question", "text", "message", "description", "summary"} {
			if part, ok := v[key].(string); ok && strings.TrimSpace(part) != "" {
				parts = append(parts, part)
			}
		}
		if len(parts) > 0 {
			return strings.Join(parts, ": "), false
		}
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return "", false
	}
	return string(raw), false
}

// withoutNull leaves out null in objects.
func withoutNull(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if inner == nil {
				delete(v, key)
			} else {
				v[key] = withoutNull(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutNull(v[i])
		}
	}
	return value
}

// either returns the value of the first key that an object has.
func either(object map[string]any, keys ...string) any {
	for _, key := range keys {
		if value, ok := object[key]; ok {
			return value
		}
	}
	return nil
}

// kind names the type of a JSON value.
func kind(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// show returns a value as short JSON.
func show(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return kind(value)
	}
	return short(string(raw))
}

// short returns the beginning of a text.
func short(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
