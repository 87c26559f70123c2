package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/dispatch"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// claim claims the most urgent ready work of the role in the workflow, in place of the work
// that the command names. The command names a claim token: there are as many tokens as pieces of
// work. Ready is work that was dispatched to the role, is not paused or
// parked, and does not rest after a fault. No agent has it, or the lease has run out. Of
// equally urgent work it claims what was dispatched first.
//
// As long as this engine makes all commits of the workflow, no claim in the log takes
// anything while something more urgent is ready. With several engines, or after a commit
// whose outcome is unknown, that holds but for what the tail has not brought yet.
//
// Where nothing is ready the token is refused. The code is held if others are at work or
// something rests, so that it comes again, and stale if all is done.
func (e *Engine) claim(ctx context.Context, cmd instance.Command, claim instance.Claim, workflow string) (Outcome, error) {
	w := e.workflows.of(workflow)
	if err := w.Lock(ctx); err != nil {
		return Outcome{}, err
	}
	defer w.Unlock()
	if w.stale.Load() {
		if err := e.states.CatchUp(ctx); err != nil {
			return Outcome{}, err
		}
		w.stale.Store(false)
	}
	if out, ok, err := e.priorClaim(ctx, cmd); ok || err != nil {
		return out, err
	}
	c := &choosing{cmd: cmd, claim: claim, key: dispatch.QueueKey{Workflow: workflow, Role: claim.Role}, skip: map[string]bool{}}
	for range maxAttempts {
		if out, done, err := e.claimBest(ctx, w, c); done || err != nil {
			return out, err
		}
	}
	return Outcome{}, contended(workflow)
}

// priorClaim replies to a claim that was carried out before with the work that it was
// given then; ok is false if it was not.
func (e *Engine) priorClaim(ctx context.Context, cmd instance.Command) (out Outcome, ok bool, err error) {
	id, ok, err := e.states.Given(ctx, cmd.ID)
	if !ok || err != nil {
		return Outcome{}, false, err
	}
	cmd.Instance = id
	return e.replay(ctx, cmd)
}

// claimAgain replies to a claim whose id has made a commit that the tail may not have
// brought yet. It refuses the claim if that commit is no claim.
func (e *Engine) claimAgain(ctx context.Context, cmd instance.Command) (Outcome, error) {
	if err := e.states.CatchUp(ctx); err != nil {
		return Outcome{}, err
	}
	out, ok, err := e.priorClaim(ctx, cmd)
	if !ok && err == nil {
		err = idConflict(cmd)
	}
	return out, err
}

// choosing is a claim of the most urgent work, over all its attempts.
type choosing struct {
	cmd      instance.Command
	claim    instance.Claim
	key      dispatch.QueueKey
	skip     map[string]bool // instances whose definition refuses to be claimed
	refusal  error           // of the last of them
	caughtUp bool
}

// claimBest makes one attempt at the claim of the most urgent work.
func (e *Engine) claimBest(ctx context.Context, w *workflowLock, c *choosing) (out Outcome, done bool, err error) {
	choice, err := e.dispatcher.MostUrgent(ctx, c.key, e.Now(), c.skip)
	switch {
	case err != nil:
		return Outcome{}, true, err
	case choice.Best == nil && c.caughtUp:
		out, err := c.nothing(choice)
		return out, true, err
	case choice.Best == nil: // before a token is refused it must be sure that there is no work
		c.caughtUp = true
		return Outcome{}, false, e.states.CatchUp(ctx)
	}
	out, err = e.commitClaim(ctx, w, c, choice)
	if err == nil {
		return out, true, nil
	}
	s := choice.Best
	switch res, err := e.classify(ctx, s, s.Instance.ID, err); res {
	case duplicate:
		out, err := e.claimAgain(ctx, c.cmd)
		return out, true, err
	case refused:
		if errors.Is(err, &instance.Refusal{Code: instance.CodeInvalid}) {
			return Outcome{}, true, err
		}
		c.skip[s.Instance.ID], c.refusal = true, err // the rest need not wait for it
		return Outcome{}, false, nil
	case outdated:
		_, err := e.states.Load(ctx, s.Instance.ID)
		return Outcome{}, false, err
	default:
		return Outcome{}, true, err
	}
}

// commitClaim commits the claim of the work that was chosen.
func (e *Engine) commitClaim(ctx context.Context, w *workflowLock, c *choosing, choice dispatch.Choice) (Outcome, error) {
	in := choice.Best.Instance
	def, err := e.Definitions.Hashed(ctx, in.Definition)
	if err != nil {
		return Outcome{}, err
	}
	if err := e.hold(ctx, w, def, choice.Best, c.key.Role, choice.At); err != nil {
		return Outcome{}, err
	}
	cmd := c.cmd
	claim := c.claim
	claim.Work = in.Work
	cmd.Instance, cmd.Do, cmd.At = in.ID, claim, choice.At
	return e.commit(ctx, w, def, choice.Best, cmd)
}

// nothing refuses a claim token for which there is no work.
func (c *choosing) nothing(choice dispatch.Choice) (Outcome, error) {
	switch {
	case choice.Soonest != nil:
		free := choice.Free.UTC().Format(time.RFC3339)
		why := fmt.Sprintf("all work of %s in %s is taken; the next may be free at %s", c.key.Role, c.key.Workflow, free)
		no := &instance.Refusal{Code: instance.CodeHeld, Instance: c.cmd.Instance, What: why}
		return Outcome{Instance: choice.Soonest.Instance, Free: choice.Free}, no
	case c.refusal != nil:
		return Outcome{}, c.refusal
	}
	why := fmt.Sprintf("%s has no work in %s", c.key.Role, c.key.Workflow)
	return Outcome{}, &instance.Refusal{Code: instance.CodeStale, Instance: c.cmd.Instance, What: why}
}
