package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// List is a list that is never null.
type List[T any] []T

// MarshalJSON implements json.Marshaler.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode([]T(l))
	return b.Bytes(), err
}

// over returns a section with the keys laid over it, and checks it. Keys that a
// section does not have are left out.
func over[T any](section string, start T, keys map[string]json.RawMessage) (T, error) {
	base, err := json.Marshal(start)
	if err != nil {
		return start, err
	}
	// Not decoded into start: its lists would lend their elements what is left out.
	var all map[string]json.RawMessage
	if err := json.Unmarshal(base, &all); err != nil {
		return start, err
	}
	maps.Copy(all, keys)
	merged, err := json.Marshal(all)
	if err != nil {
		return start, err
	}
	var out T
	if err := json.Unmarshal(merged, &out); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			err = fmt.Errorf("%s.%s is a %s", section, wrong.Field, wrong.Value)
		}
		return start, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := check(out); err != nil {
		return start, err
	}
	return out, nil
}

// check has the demands of the schema on a section other than the types of its keys.
func check(section any) error {
	want := func(key, value string, values ...string) error {
		if slices.Contains(values, value) {
			return nil
		}
		return fmt.Errorf("%w: %s is %q, want one of %s", ErrInvalid, key, value, strings.Join(values, ", "))
	}
	switch s := section.(type) {
	case Triage:
		return errors.Join(
			want("triage.scope", s.Scope, "SMALL", "MEDIUM", "LARGE"),
			want("triage.complexity", s.Complexity, "simple", "moderate", "complex"))
	case Writer:
		if s.Attempt < 1 {
			return fmt.Errorf("%w: writer.attempt is %d, want 1 or more", ErrInvalid, s.Attempt)
		}
	case Review:
		for i, f := range s.Findings.Issues {
			if f.Line < 0 {
				return fmt.Errorf("%w: review.findings.issues[%d].line is %d", ErrInvalid, i, f.Line)
			}
		}
		return want("review.verdict", string(s.Verdict), string(Approved), string(Rejected), string(NeedsInfo))
	case Pipeline:
		return want("pipeline.status", string(s.Status), string(InProgress), string(Completed), string(Failed), string(Blocked))
	}
	return nil
}

// stored is a section as the log has it, laid over its start. Not only this package writes
// what the log has. So a key that is not what it should be is left out: every document that
// is printed is one.
func stored[T any](section string, start T, texts map[string]string) T {
	var keys map[string]json.RawMessage
	if json.Unmarshal([]byte(texts[section]), &keys) != nil {
		return start
	}
	if whole, err := over(section, start, keys); err == nil {
		return whole
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if more, err := over(section, start, map[string]json.RawMessage{key: keys[key]}); err == nil {
			start = more
		}
	}
	return start
}
