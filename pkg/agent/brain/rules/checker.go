package rules

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Checker takes the runtime's checks for the judgement: all of those on the
// newest commit have to pass.
type Checker struct{}

// Work implements brain.Brain.
func (Checker) Work(_ context.Context, a brain.Assignment) (brain.Outcome, error) {
	if a.Question != nil {
		return CannotAnswer(a), nil
	}
	var passed []instance.Evidence
	for _, ev := range a.Evidence {
		switch {
		case a.Head != "" && ev.Commit != a.Head:
		case ev.OK:
			passed = append(passed, ev)
		default:
			return declared(Judge(ev)), nil
		}
	}
	if len(passed) == 0 {
		return brain.Outcome{}, fmt.Errorf("%w: %s wants it on commit %s", ErrNoEvidence, a.State, a.Head)
	}
	r := Judge(passed[0])
	if n := len(passed); n > 1 {
		r.Summary = fmt.Sprintf("%s All %d checks pass.", r.Summary, n)
	}
	return declared(r), nil
}

// CannotAnswer is what rules say when another role asks them something.
func CannotAnswer(a brain.Assignment) brain.Outcome {
	return declared(instance.Result{
		Status: instance.Blocked, Summary: "The " + a.Role + " works by rules here, and rules answer no questions.",
	})
}
