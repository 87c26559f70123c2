package pipeline

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed issue-state.schema.json
var schema []byte

// Schema is the JSON Schema of the document, draft 2020-12.
func Schema() []byte { return bytes.Clone(schema) }

// ErrInvalid means that a text is not the document, or not the section, that it
// should be; the error names the field.
var ErrInvalid = errors.New("invalid document")

// Validate checks that text is a document.
func Validate(text []byte) error {
	resolved, err := validator()
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := resolved.Validate(value); err != nil {
		return fmt.Errorf("%w: %s", ErrInvalid, where(err.Error()))
	}
	return nil
}

// validator returns the schema, ready to validate documents.
var validator = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
})

// where puts the field's name before what is wrong with it, which the validator
// tells level by level.
func where(text string) string {
	path := ""
	for {
		rest, ok := strings.CutPrefix(text, "validating ")
		at, what, cut := strings.Cut(rest, ": ")
		if !ok || !cut {
			break
		}
		path, text = at, what
	}
	name := ""
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "", "root", "$defs", "properties":
		case "items":
			name += "[]"
		default:
			name += "." + part
		}
	}
	return strings.TrimPrefix(name+": "+text, ": ")
}

// Encode is the document as JSON, indented.
func (d Document) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(d)
	return b.Bytes(), err
}
