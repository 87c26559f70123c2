package cli

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type cancelCommand struct{ instanceReason }

// Run cancels an instance in the state it is in.
func (c cancelCommand) Run(ctx context.Context, env *term.Env) error {
	if err := c.askReason(ctx, env, "cancelled"); err != nil {
		return err
	}
	cmd := &pb.Command{Action: &pb.Command_Cancel{Cancel: &pb.Cancel{Reason: c.reason(env)}}}
	return c.send(ctx, env, subject.Cancel, cmd, func(in view.Instance) string { return "cancelled in " + in.State })
}
