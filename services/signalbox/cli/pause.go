package cli

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type pauseCommand struct{ instanceReason }

// Run pauses an instance: its work is not dispatched.
func (c pauseCommand) Run(ctx context.Context, env *term.Env) error {
	cmd := &pb.Command{Action: &pb.Command_Pause{Pause: &pb.Pause{Reason: c.reason(env)}}}
	return c.send(ctx, env, subject.Pause, cmd, func(in view.Instance) string { return "paused in " + in.State })
}
