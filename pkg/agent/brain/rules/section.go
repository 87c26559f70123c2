package rules

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/instance"
)

// ByDocument works by one brain where the role writes the section of its
// lifecycle's document, and by another everywhere else: the analyst has work in
// two lifecycles.
type ByDocument struct {
	Section    string
	With, Else brain.Brain
}

// Work implements brain.Brain.
func (b ByDocument) Work(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
	if slices.Contains(a.Writes, b.Section) {
		return b.With.Work(ctx, a)
	}
	return b.Else.Work(ctx, a)
}

// wrote is a result that writes a section.
func wrote(r instance.Result, section string, value any) (brain.Outcome, error) {
	text, err := json.Marshal(value)
	r.Sections = map[string]string{section: string(text)}
	return declared(r), err
}
