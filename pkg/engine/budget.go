package engine

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Budget bounds what roles spend on instances. It is safe for concurrent use, and quick.
type Budget interface {
	// Rests returns until when a role may begin nothing on an instance, and why; the zero
	// time if it may.
	Rests(at time.Time, in instance.Instance, role string) (until time.Time, why string)
	// Over returns why a role that is at work may spend nothing more, "" if it may.
	Over(at time.Time, in instance.Instance, role string) (why string)
	// Raise returns a raise with the names of the budgets that it is of. The error is for
	// people.
	Raise(at time.Time, in instance.Instance, a instance.RaiseDay) (instance.RaiseDay, error)
}

// hold parks ready work whose budget is spent, in place of its claim. Then its error says
// that state s is past: the claim is to be decided again.
func (e *Engine) hold(ctx context.Context, w *workflowLock, def *workflow.Definition, s *projection.State, role string, at time.Time) error {
	in := s.Instance
	_, inquired := in.Inquiry() // what is asked of another role is not held
	if inquired || s.Ready() != role || in.Claim.Live(at) {
		return nil
	}
	until, why := e.Budget.Rests(at, in, role)
	if !until.After(at) {
		return nil
	}
	return e.park(ctx, w, def, s, at, instance.Hold{Work: in.Work, For: instance.ForBudget, Until: until, Reason: why})
}

// raise returns a raise of the day that names its budgets.
func (e *Engine) raise(in instance.Instance, cmd instance.Command, a instance.RaiseDay) (instance.Action, error) {
	a, err := e.Budget.Raise(cmd.At, in, a)
	if err != nil {
		return nil, &instance.Refusal{Code: instance.CodeInvalid, Instance: in.ID, What: err.Error()}
	}
	return a, nil
}

// funded reports whether a budget permits the work of an instance now.
func (e *Engine) funded(in instance.Instance) bool {
	now := e.Now()
	until, _ := e.Budget.Rests(now, in, in.Owner)
	return !until.After(now)
}

// noBudget bounds nothing.
type noBudget struct{}

func (noBudget) Rests(time.Time, instance.Instance, string) (until time.Time, why string) {
	return time.Time{}, ""
}
func (noBudget) Over(time.Time, instance.Instance, string) (why string) { return "" }
func (noBudget) Raise(time.Time, instance.Instance, instance.RaiseDay) (instance.RaiseDay, error) {
	return instance.RaiseDay{}, errors.New("there are no budgets of a day")
}
