package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

// replay replies to a command that the instance carried out before as it did then, however
// long ago that is. ok is false if it never did.
func (e *Engine) replay(ctx context.Context, cmd instance.Command) (out Outcome, ok bool, err error) {
	s, err := e.states.Load(ctx, cmd.Instance)
	if err != nil {
		return Outcome{}, false, err
	}
	before, ok := s.SeqBefore(cmd.ID)
	if !ok {
		return Outcome{}, false, nil
	}
	commits, err := e.Store.Since(ctx, cmd.Instance, before)
	if errors.Is(err, eventstore.ErrCorrupt) { // that commit is another instance's
		commits, err = e.Store.Load(ctx, cmd.Instance)
	}
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
