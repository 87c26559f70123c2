package engine

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/dispatch"
	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/projection"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// Budget says that a role may spend nothing on an instance before a time, and why. The
// zero time says that it may.
type Budget func(in instance.Instance, role string) (until time.Time, why string)

// hold parks ready work whose budget is spent, in place of its claim. Then its error says
// that state s is past: the claim is to be decided again.
func (e *Engine) hold(ctx context.Context, w *workflowLock, def *workflow.Definition, s *projection.State, role string, at time.Time) error {
	in := s.Instance
	_, inquired := in.Inquiry() // what is asked of another role is not held
	if e.Budget == nil || inquired || s.Ready() != role || in.Claim.Live(at) {
		return nil
	}
	until, why := e.Budget(in, role)
	if !until.After(at) {
		return nil
	}
	_, err := e.commit(ctx, w, def, s, instance.Command{
		ID:       "hold-" + strconv.FormatUint(in.Work, 10) + "-" + strconv.FormatInt(until.Unix(), 10),
		Instance: in.ID, Actor: "orchestrator", At: at, Do: instance.Hold{Work: in.Work, Until: until, Reason: why},
	})
	if err == nil || errors.Is(err, eventstore.ErrDuplicate) { // the id is not the claim's
		return errHeld
	}
	return err
}

// errHeld says that work was parked in place of its claim.
var errHeld = errors.New("the work is parked")

// waiter returns the agent that waits longest for the work that a command makes, unless
// its budget is spent: then it goes to the queue, where its claim finds that out.
func (e *Engine) waiter(in instance.Instance, cmd instance.Command, role string) *dispatch.Waiter {
	if open, ok := cmd.Do.(instance.Open); ok {
		in.ID, in.Issue = cmd.Instance, open.Issue
	}
	if e.Budget != nil {
		if until, _ := e.Budget(in, role); until.After(cmd.At) {
			return nil
		}
	}
	return e.dispatcher.Next(role)
}
