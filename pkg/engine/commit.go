package engine

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/dispatch"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// commit decides a command on state s at its time and appends the commit. It marks the
// lock of the workflow stale if the log may have a commit whose append failed.
func (e *Engine) commit(ctx context.Context, w *workflowLock, def *workflow.Definition, s *projection.State, cmd instance.Command,
) (out Outcome, err error) {
	cmd.At = cmd.At.UTC().Round(0) // no monotonic reading: what is kept is what is replayed
	if cmd.At.Before(s.Instance.UpdatedAt) {
		cmd.At = s.Instance.UpdatedAt // two clocks: time within an instance never runs back
	}
	decided := instance.Commit{ID: cmd.ID, At: cmd.At, Actor: cmd.Actor}
	var waiter *dispatch.Waiter
	if decided.Events, waiter, err = e.decide(def, s.Instance, cmd); err != nil {
		return Outcome{}, err
	}
	release, full, ok := e.dispatcher.Reserve(s.Instance, decided)
	defer release()
	switch {
	case !ok && waiter == nil:
		hold := instance.Hold{Work: s.Instance.Work, For: instance.ForPlace, Reason: full.String()}
		return Outcome{}, e.park(ctx, w, def, s, cmd.At, hold)
	case !ok: // the queue gets the work, and its claim there waits for a place
		waiter.Reply(instance.Instance{}, nil, ErrNoWork)
		waiter = nil
		if decided.Events, err = instance.Decide(def, s.Instance, cmd); err != nil {
			return Outcome{}, err
		}
	}
	if waiter != nil {
		defer func() { reply(waiter, out, err) }()
	}
	data, err := wire.Events(cmd.Actor, decided.Events)
	if err != nil {
		return Outcome{}, err
	}
	to, wakes := address(s.Instance.State, decided.Events)
	stored := eventstore.Commit{
		ID: cmd.ID, Workflow: cmp.Or(s.Instance.Workflow, def.Name), State: to, Instance: cmd.Instance, Wakes: wakes,
		Time: cmd.At, Data: data, Trace: trace(ctx),
	}
	next, err := e.states.Append(ctx, s, stored, decided)
	if err != nil {
		if !leftNothing(err) {
			w.stale.Store(true)
		}
		return Outcome{}, err
	}
	if e.Committed != nil {
		decided.Seq = next.Instance.Seq
		e.Committed(s.Instance, next.Instance, decided)
	}
	return Outcome{Seq: next.Instance.Seq, Events: decided.Events, Instance: next.Instance}, nil
}

// park parks work in place of its claim. Its error, if it did, is errHeld. From then on
// the log has the work, and no queue.
func (e *Engine) park(ctx context.Context, w *workflowLock, def *workflow.Definition, s *projection.State, at time.Time, hold instance.Hold) error {
	id := "hold-" + string(hold.For) + "-" + strconv.FormatUint(hold.Work, 10)
	if !hold.Until.IsZero() {
		id += "-" + strconv.FormatInt(hold.Until.Unix(), 10)
	}
	_, err := e.commit(ctx, w, def, s, instance.Command{ID: id, Instance: s.Instance.ID, Actor: "orchestrator", At: at, Do: hold})
	if err == nil || errors.Is(err, eventstore.ErrDuplicate) { // the id is not the claim's
		return errHeld
	}
	return err
}

// errHeld means that work was parked in place of its claim.
var errHeld = errors.New("the work is parked")

// decide decides a command. Work that it makes for the owner of a state is claimed by an
// agent that waits for it, if there is one. The caller has to reply to that waiter. Work of
// a lifecycle with an order, and work that was lost with an agent, goes by the queue. So
// does work that a claim makes: a commit has one claim. So does work whose budget is spent:
// its claim finds that out.
func (e *Engine) decide(def *workflow.Definition, in instance.Instance, cmd instance.Command) ([]instance.Event, *dispatch.Waiter, error) {
	if goesByQueue(cmd.Do) || len(def.Order) > 0 {
		events, err := instance.Decide(def, in, cmd)
		return events, nil, err
	}
	budgeted := in
	if open, ok := cmd.Do.(instance.Open); ok {
		budgeted.ID, budgeted.Issue = cmd.Instance, open.Issue
	}
	var w *dispatch.Waiter
	events, claimed, err := instance.DecideAndClaim(def, in, cmd, func(role string) (instance.Claim, bool) {
		if until, _ := e.Budget.Rests(cmd.At, budgeted, role); until.After(cmd.At) {
			return instance.Claim{}, false
		}
		if w = e.dispatcher.Next(role); w == nil {
			return instance.Claim{}, false
		}
		return w.Claim, true
	})
	if w != nil && !claimed {
		w.Reply(instance.Instance{}, nil, ErrNoWork)
		w = nil
	}
	return events, w, err
}

func goesByQueue(do instance.Action) bool {
	switch do.(type) {
	case instance.Lapse, instance.Claim, instance.Hold:
		return true
	}
	return false
}

// reply replies to an agent that waited with the outcome of the commit that was to claim
// its work.
func reply(w *dispatch.Waiter, out Outcome, err error) {
	if err != nil && leftNothing(err) { // another writer was first
		err = ErrNoWork
	}
	w.Reply(out.Instance, out.Events, err)
}

// leftNothing reports whether an append that failed so has left nothing in the log.
func leftNothing(err error) bool {
	return errors.Is(err, eventstore.ErrConflict) || errors.Is(err, eventstore.ErrInvalid) || errors.Is(err, eventstore.ErrTooLarge)
}

// address returns what the subject of a commit names, and whether the commit is delivered
// to a queue. It names the role that is asked a question. It names people if they have to
// act, or if a deadline passed and the instance stays. Else it names the state after the
// commit; state is the one before. Work that the commit claims is not delivered.
func address(state string, events []instance.Event) (to string, wakes bool) {
	late := false
	for _, e := range events {
		switch e := e.(type) {
		case instance.Opened:
			state = e.State
		case instance.TimedOut:
			late = true
		case instance.Moved:
			state, late = e.To, false
		case instance.Dispatched:
			wakes = true
			if e.Question > 0 {
				to = subject.To(e.Owner)
			}
		case instance.Claimed:
			wakes = wakes && !e.Direct
		case instance.Escalated:
			if e.RequiresHuman {
				to = subject.People
			}
		}
	}
	if late && !wakes {
		to = subject.People
	}
	return cmp.Or(to, state), wakes
}
