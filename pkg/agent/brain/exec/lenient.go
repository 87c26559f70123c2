package exec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/instance"
)

// decode decodes a stated result. A step's work is not lost for what a program says too
// much: keys that no result has are left out, and noted, and null counts as nothing.
func decode(text []byte) (brain.Outcome, error) {
	object, unknown := lenient(text)
	out, err := brain.DecodeResult(object)
	if err == nil && len(unknown) > 0 {
		out.Notes = append(out.Notes, instance.NoteEntry{Kind: "warning", Text: fmt.Sprintf("the result has keys that do not count: %q", unknown)})
	}
	return out, err
}

// lenient returns a JSON object without null values and without the keys, sorted, that no
// result has. Anything else it returns as it is.
func lenient(text []byte) (object []byte, unknown []string) {
	var value map[string]any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if dec.Decode(&value) != nil || dec.More() {
		return text, nil
	}
	known := brain.ResultKeys()
	for key := range value {
		if !slices.Contains(known, key) {
			unknown = append(unknown, key)
			delete(value, key)
		}
	}
	slices.Sort(unknown)
	object, err := json.Marshal(withoutNull(value))
	if err != nil {
		return text, nil
	}
	return object, unknown
}

// withoutNull leaves out what is null in objects.
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

// block matches a code fence of a message that has an object.
var block = regexp.MustCompile("(?s)```(?:json)?[ \\t]*\\n[ \\t]*(\\{.*?\\})[ \\t\\n]*```")

// fenced returns the object of the last code fence of a text that is a result.
func fenced(text string) []byte {
	for _, m := range slices.Backward(block.FindAllStringSubmatch(text[max(len(text)-maxObject, 0):], -1)) {
		if object := lastObject(m[1]); object != nil {
			return object
		}
	}
	return nil
}

// prose returns a text without code fences that have an object.
func prose(text string) string { return strings.TrimSpace(block.ReplaceAllString(text, "")) }
