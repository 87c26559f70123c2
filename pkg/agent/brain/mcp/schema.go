package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/yamlfile"
)

const (
	maxSchema = 32 << 10 // bytes
	maxDepth  = 24       // of objects and lists
)

// property is a name of a property that all providers of models take.
var property = lazyregexp.New(`^[A-Za-z0-9_.-]{1,64}$`)

// kept are the keys of an object's schema that all providers take at its top. The server
// itself checks what the others say.
var kept = []string{"properties", "required", "additionalProperties", "$defs", "definitions", "description"}

// schemaOf returns a copy of the schema of a tool's arguments that can be sent to providers:
// one tool that they refuse would end the whole work.
func schemaOf(given any) (map[string]any, error) {
	text, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	var whole map[string]any
	switch {
	case len(text) > maxSchema:
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(text), maxSchema)
	case json.Unmarshal(text, &whole) != nil:
		return nil, errors.New("it is no object")
	case whole["type"] != nil && whole["type"] != "object":
		return nil, errors.New("its type is not object")
	}
	s := map[string]any{}
	for _, key := range kept {
		if v, ok := whole[key]; ok {
			s[key] = v
		}
	}
	properties, ok := s["properties"].(map[string]any)
	if !ok && s["properties"] != nil {
		return nil, errors.New("its properties are no object")
	}
	if properties == nil {
		properties = map[string]any{}
	}
	for name := range properties {
		if !property.MatchString(name) {
			return nil, fmt.Errorf("its property %s: want a name of letters, digits, underscores, dots and dashes", yamlfile.Quoted(sanitize.TerminalLine(name)))
		}
	}
	required, err := names(s["required"], properties)
	if err != nil {
		return nil, err
	}
	s["type"], s["properties"], s["required"] = "object", properties, required
	return s, walk(s, s, maxDepth)
}

// names returns the required properties, each once.
func names(v any, properties map[string]any) ([]string, error) {
	found := []string{}
	if v == nil {
		return found, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New("required is no list")
	}
	for _, one := range list {
		name, ok := one.(string)
		if _, known := properties[name]; !ok || !known {
			return nil, errors.New("required names what is no property")
		}
		found = append(found, name)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// errHidden is of a text that a model reads and people do not see.
var errHidden = errors.New("it has characters that do not show, outside of a description")

// walk checks what is within a schema, and shortens what it says.
func walk(root map[string]any, v any, depth int) error {
	if depth == 0 {
		return fmt.Errorf("it nests deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case string:
		if sanitize.FirstHidden(v) >= 0 {
			return errHidden
		}
	case []any:
		for _, one := range v {
			if err := walk(root, one, depth-1); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text, isText := v[key].(string)
			switch {
			case sanitize.FirstHidden(key) >= 0:
				return errHidden
			case key == "$ref" && isText && !resolves(root, text):
				return fmt.Errorf("it refers to %s, which is not in it", yamlfile.Quoted(sanitize.TerminalLine(text)))
			case (key == "description" || key == "title") && isText:
				v[key] = cut(sanitize.Terminal(text), maxAbout)
			default:
				if err := walk(root, v[key], depth-1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// resolves reports whether a reference names a part of the schema.
func resolves(root map[string]any, ref string) bool {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return false
	}
	var at any = root
	for _, part := range strings.Split(path, "/") {
		in, ok := at.(map[string]any)
		if !ok {
			return false
		}
		if at, ok = in[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]; !ok {
			return false
		}
	}
	return true
}
