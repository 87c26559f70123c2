package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Documents gives programs the document as a file and takes it back. It has one
// for assignments of a lifecycle that has the document: what it implements is the
// consumer's, exec.Documents.
type Documents struct{}

// Render is the document of the assignment; nil: its lifecycle has none.
func (Documents) Render(a work.Assignment) ([]byte, error) {
	section := sectionOf(a.Role)
	if section == "" || !slices.Contains(a.Writes, section) {
		return nil, nil
	}
	text, err := OfAssignment(a).Encode()
	return unspoken(text), err
}

// Read is the outcome of the change from before to after: see Read.
func (Documents) Read(a work.Assignment, before, after []byte) (work.Outcome, error) {
	var was Document
	if err := json.Unmarshal(before, &was); err != nil {
		return work.Outcome{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return Read(a, was, after)
}
