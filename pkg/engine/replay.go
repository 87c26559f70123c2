package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

// replay replies to a command that the instance carried out before as it did then, however
// long ago that is. ok is false if it never did.
func (e *Engine) replay(ctx context.Context, cmd instance.Command) (out Outcome, ok bool, err error) {
	s, commits, err := e.since(ctx, cmd)
	if err != nil {
		return Outcome{}, false, err
	}
	i := slices.IndexFunc(commits, func(c eventstore.Commit) bool { return c.ID == cmd.ID })
	if i < 0 {
		return Outcome{}, false, nil
	}
	first, err := wire.ToCommit(commits[i])
	return Outcome{Seq: first.Seq, Duplicate: true, Events: first.Events, Instance: s.Instance}, true, err
}

// replyAgain replies to a command whose id has made a commit. It refuses the command if
// that is another instance's.
func (e *Engine) replyAgain(ctx context.Context, cmd instance.Command) (Outcome, error) {
	out, ok, err := e.replay(ctx, cmd)
	if !ok && err == nil {
		err = idConflict(cmd)
	}
	return out, err
}

func idConflict(cmd instance.Command) error {
	why := fmt.Sprintf("the command id %q is spent on another instance", cmd.ID)
	return &instance.Refusal{Code: instance.CodeInvalid, Instance: cmd.Instance, What: why}
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

// since returns the newest state of an instance and, if the command was ever carried
// out, at least the commits since then.
func (e *Engine) since(ctx context.Context, cmd instance.Command) (*projection.State, []eventstore.Commit, error) {
	if _, ok := e.states.Live(cmd.Instance); !ok {
		return e.states.Reload(ctx, cmd.Instance)
	}
	s, err := e.states.Load(ctx, cmd.Instance)
	if err != nil {
		return nil, nil, err
	}
	before, ok := s.SeqBefore(cmd.ID)
	if !ok {
		return s, nil, nil
	}
	commits, err := e.Store.Since(ctx, cmd.Instance, before)
	if errors.Is(err, eventstore.ErrCorrupt) { // that commit is another instance's
		return e.states.Reload(ctx, cmd.Instance)
	}
	return s, commits, err
}
