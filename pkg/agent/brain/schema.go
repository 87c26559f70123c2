package brain

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
)

//go:embed schema/*.schema.json
var schemas embed.FS

// ResultSchema returns the JSON Schema of a stated result.
func ResultSchema() []byte { return document("result") }

func document(name string) []byte {
	text, err := schemas.ReadFile("schema/" + name + ".schema.json")
	if err != nil {
		panic(err) // it is part of the program
	}
	return text
}

// ErrInvalidResult marks a stated result that the schema refuses. Its text names
// the field and the values it may have.
var ErrInvalidResult = errors.New("invalid result")

// statement is the JSON of a stated result.
type statement struct {
	instance.Result
	Sections  map[string]json.RawMessage `json:"sections"`  // as JSON; shadows the text of Result
	Questions []asked                    `json:"questions"` // likewise
	Asks      []instance.Inquiry         `json:"asks"`
	Escalate  *Escalation                `json:"escalate"`
	Learned   []Learned                  `json:"learnings"`
}

// DecodeResult decodes a stated result, one JSON value that ResultSchema accepts.
// A missing confidence is 1. Its errors wrap ErrInvalidResult.
func DecodeResult(text []byte) (Outcome, error) {
	var value any
	dec := json.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&value); err != nil {
		return Outcome{}, fmt.Errorf("%w: not JSON: %w", ErrInvalidResult, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Outcome{}, fmt.Errorf("%w: more than one JSON value", ErrInvalidResult)
	}
	text, lost := withoutUnusable(text, value)
	if err := check(ResultSchema(), value); err != nil {
		return Outcome{}, fmt.Errorf("%w: %w", ErrInvalidResult, err)
	}
	s := statement{Result: instance.Result{ConfidenceScore: 1}}
	if err := json.Unmarshal(text, &s); err != nil {
		return Outcome{}, fmt.Errorf("%w: %w", ErrInvalidResult, err)
	}
	out := Outcome{Result: s.Result, Declared: true, Asks: s.Asks, Escalate: s.Escalate, Learned: s.Learned}
	out.Result.Questions, out.Result.Forms = formed(s.Questions)
	for _, why := range lost {
		out.Notes = append(out.Notes, instance.NoteEntry{Kind: "warning", Text: why})
	}
	for name, section := range s.Sections {
		if out.Result.Sections == nil {
			out.Result.Sections = map[string]string{}
		}
		out.Result.Sections[name] = string(section)
	}
	return out, nil
}

// withoutUnusable takes the learnings out of a result that none can be, and says why: a
// step's work is not lost for them. A text in the place of an object is the learning's.
// It returns the result as JSON, and changes its value likewise.
func withoutUnusable(text []byte, value any) (usable []byte, lost []string) {
	object, ok := value.(map[string]any)
	if !ok || object["learnings"] == nil {
		return text, nil
	}
	all, ok := object["learnings"].([]any)
	if !ok {
		all = []any{object["learnings"]}
	}
	kept := []any{}
	for _, one := range all {
		if text, ok := one.(string); ok {
			one = map[string]any{"text": text}
		}
		fields, _ := one.(map[string]any)
		path, _ := fields["path"].(string)
		fact, _ := fields["text"].(string)
		path, fact, err := learning.Clean(path, fact)
		if err != nil {
			lost = append(lost, "the result has a learning that is not kept: "+err.Error())
			continue
		}
		kept = append(kept, map[string]any{"path": path, "text": fact})
	}
	object["learnings"] = kept
	var raw map[string]json.RawMessage
	err := json.Unmarshal(text, &raw)
	if err == nil {
		raw["learnings"], err = json.Marshal(kept)
	}
	if err == nil {
		usable, err = json.Marshal(raw)
	}
	if err != nil {
		return text, lost // it was JSON
	}
	return usable, lost
}

// ResultKeys lists the keys that a stated result may have.
func ResultKeys() []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(ResultSchema(), &s); err != nil {
		panic(err) // it is part of the program
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

// check validates a value. Its error names the field.
func check(document []byte, value any) error {
	var s jsonschema.Schema
	if err := json.Unmarshal(document, &s); err != nil {
		return err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	if err := resolved.Validate(value); err != nil {
		return errors.New(fault(err.Error()))
	}
	return nil
}

var validating = lazyregexp.New(`^validating (\S+): `)

// fault replaces the path through the schema in a validator's message by the name
// of the field, such as answers[].question.
func fault(text string) string {
	path := ""
	for {
		m := validating.FindStringSubmatch(text)
		if m == nil {
			break
		}
		path, text = m[1], text[len(m[0]):]
	}
	if head, list, ok := strings.Cut(text, " [\""); ok {
		// The validator's order varies; the same fault must have the same text.
		names := strings.Split(strings.TrimSuffix(list, "\"]"), "\" \"")
		slices.Sort(names)
		text = fmt.Sprintf("%s %q", head, names)
	}
	path = strings.NewReplacer("/properties/", ".", "/additionalProperties", ".*", "/items", "[]").Replace(path)
	if name := strings.TrimPrefix(path, "."); name != "" && name != "root" {
		return name + ": " + text
	}
	return text
}
