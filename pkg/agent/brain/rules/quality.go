package rules

import (
	"context"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Quality verifies a task's work. The runtime's tests have to pass, and the change, from
// where the task's own work starts, must hold before the Navigator (task lifecycle,
// quality_review).
type Quality struct{}

// Work implements brain.Brain.
func (Quality) Work(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
	tested, err := Checker{}.Work(ctx, a)
	if err != nil || a.Question != nil || tested.Result.Status != instance.Success {
		return tested, err
	}
	if from := a.Vars["starts_at"]; from != "" {
		a.Base = from
	}
	reviewed, err := Navigator{}.Work(ctx, a)
	if err == nil {
		reviewed.Result.Summary = tested.Result.Summary + " " + reviewed.Result.Summary
	}
	return reviewed, err
}
