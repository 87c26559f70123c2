package rules

import (
	"context"
	"slices"

	"github.com/signalbox/signalbox/pkg/agent/brain"
)

// ByDocument works by one brain where the role writes the section of its lifecycle's
// document, and by another everywhere else. The analyst has work in two lifecycles.
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
