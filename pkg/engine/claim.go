package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
)

// ordered returns the lifecycle of the instance a claim names if its definition
// has an order and the role works in it.
func (e *Engine) ordered(ctx context.Context, id, role string) (workflow string, ok bool, err error) {
	now := e.view.at(id)
	if !now.in.Exists() {
		if now, err = e.load(ctx, id); err != nil || !now.in.Exists() {
			return "", false, err
		}
	}
	if e.orderOf(ctx, now.in.Definition) == orderless {
		return "", false, nil
	}
	def, err := e.Definitions.Hashed(ctx, now.in.Definition)
	if err != nil || len(def.Order) == 0 {
		return "", false, err
	}
	for _, r := range def.Roles() {
		ok = ok || r == role
	}
	return now.in.Workflow, ok, nil
}

// claim takes, in place of the work that the command names, the most urgent work
// of that role in the lifecycle which is ready at that moment: what it names is a
// permit, and there are as many permits as pieces of work. Ready is what was
// dispatched to the role, is not paused or parked, is not claimed or its lease
// has run out, and does not rest after a fault. Of equally urgent ones it takes
// what was dispatched first.
//
// As long as this engine makes all commits of the lifecycle, no claim in the log
// takes anything while something more urgent is ready. With several engines, or
// after a commit whose outcome is unknown, that holds but for what has not come
// in by the tail of the log yet.
//
// Where nothing is ready the permit is refused as held if others are at work or
// something rests, so that it comes again, and as stale if all is done.
func (e *Engine) claim(ctx context.Context, cmd instance.Command, take instance.Claim, workflow string) (Outcome, error) {
	d := e.desks.of(workflow)
	if err := d.gate.enter(ctx, true); err != nil {
		return Outcome{}, err
	}
	defer d.gate.leave(true)
	if d.doubt.Load() {
		if err := e.catchUp(ctx); err != nil {
			return Outcome{}, err
		}
		d.doubt.Store(false)
	}
	if out, ok, err := e.given(ctx, cmd); ok || err != nil {
		return out, err
	}
	passed, sure := map[string]bool{}, false
	var refused error // of what was passed over
	for range maxConflicts {
		best, soonest, at, err := e.mostUrgent(ctx, place{workflow, take.Role}, e.Now(), passed)
		if err != nil {
			return Outcome{}, err
		}
		if best.id == "" {
			if sure {
				return e.nothing(cmd, take.Role, workflow, soonest, refused)
			}
			// Before a permit is turned away it must be sure that there is no work.
			if err := e.catchUp(ctx); err != nil {
				return Outcome{}, err
			}
			sure = true
			continue
		}
		now := e.view.at(best.id)
		if now.in.Seq != best.seq { // another engine's commit came in between
			continue
		}
		def, err := e.Definitions.Hashed(ctx, now.in.Definition)
		if err != nil {
			return Outcome{}, err
		}
		one := cmd
		take.Work = now.in.Work
		one.Instance, one.Do, one.At = best.id, take, at
		out, err := e.commit(ctx, def, now, one)
		switch {
		case err == nil:
			e.view.give(cmd.ID, best.id)
			return out, nil
		case errors.Is(err, eventstore.ErrDuplicate):
			return e.spent(ctx, cmd)
		case errors.Is(err, eventstore.ErrConflict):
			if e.Conflicted != nil {
				e.Conflicted(best.id)
			}
		case errors.Is(err, &instance.Refusal{Code: instance.CodeInvalid}):
			return Outcome{}, err
		case errors.As(err, new(*instance.Refusal)):
			fresh, unsure := e.fresh(ctx, now)
			if unsure != nil {
				return Outcome{}, unsure
			}
			if fresh { // its definition has no answer: that is no reason to hold up the rest
				passed[best.id], refused = true, err
				continue
			}
		default:
			return out, err
		}
		if _, err := e.load(ctx, best.id); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, fmt.Errorf("%s: %w: %d tries", workflow, ErrContended, maxConflicts)
}

// nothing refuses a permit for which there is no work.
func (e *Engine) nothing(cmd instance.Command, role, workflow string, soonest piece, refused error) (Outcome, error) {
	no := &instance.Refusal{Code: instance.CodeStale, Instance: cmd.Instance, What: fmt.Sprintf("%s has no work in %s", role, workflow)}
	switch {
	case soonest.id == "" && refused != nil:
		return Outcome{}, refused
	case soonest.id != "":
		no.Code = instance.CodeHeld
		no.What = fmt.Sprintf("all work of %s in %s is taken; the next may be free at %s", role, workflow, soonest.busy.UTC().Format(time.RFC3339))
	}
	return Outcome{Instance: e.view.at(soonest.id).in, Free: soonest.busy}, no
}

// catchUp returns when the view has all that is in the log now.
func (e *Engine) catchUp(ctx context.Context) error {
	head, err := e.Store.Head(ctx)
	if err != nil {
		return err
	}
	return e.view.wait(ctx, head)
}

// given answers a claim that was taken before with what it was given then.
func (e *Engine) given(ctx context.Context, cmd instance.Command) (Outcome, bool, error) {
	id, ok := e.view.given(cmd.ID)
	if !ok { // unless it was something that ended before the snapshot
		if err := e.view.complete(ctx); err != nil {
			return Outcome{}, false, err
		}
		if id, ok = e.view.given(cmd.ID); !ok {
			return Outcome{}, false, nil
		}
	}
	cmd.Instance = id
	return e.again(ctx, cmd)
}

// spent answers a claim whose id made another commit: its own, of which this
// engine has not heard yet, or it is refused.
func (e *Engine) spent(ctx context.Context, cmd instance.Command) (Outcome, error) {
	if err := e.catchUp(ctx); err != nil {
		return Outcome{}, err
	}
	out, ok, err := e.given(ctx, cmd)
	if !ok && err == nil {
		err = isSpent(cmd)
	}
	return out, err
}

func isSpent(cmd instance.Command) error {
	return &instance.Refusal{Code: instance.CodeInvalid, Instance: cmd.Instance, What: fmt.Sprintf("the command id %q is spent on another instance", cmd.ID)}
}
