package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/pkg/instance"
)

// ErrBehind says that a claim names work which the log, as its server tells it,
// does not have yet.
var ErrBehind = errors.New("the log is behind")

// believed returns the refusal of a command, unless there is a reason to doubt it.
// Whoever refuses a claim has its work acknowledged and gone. A server of a
// cluster that was cut off, or catches up, answers for less than there is: then
// the work is newer than all that it has.
func (e *Engine) believed(ctx context.Context, now *entry, cmd instance.Command, refusal error) error {
	take, ok := cmd.Do.(instance.Claim)
	if !ok || take.Work <= now.in.Seq {
		return refusal
	}
	head, err := e.Store.Head(ctx)
	if err != nil {
		return err
	}
	if head < take.Work {
		return fmt.Errorf("%w: it ends at %d, the work of %s is commit %d", ErrBehind, head, cmd.Instance, take.Work)
	}
	switch fresh, err := e.fresh(ctx, now); {
	case err != nil:
		return err // not the refusal too: it would be taken for an answer
	case fresh:
		return refusal
	}
	return fmt.Errorf("%w: %s went on meanwhile", ErrBehind, cmd.Instance)
}
