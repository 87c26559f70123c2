package cli

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type reopenCommand struct {
	instanceReason
	To string `name:"to" env:"-" placeholder:"STATE" help:"Where it starts again; by default where it was stopped, or came to its end from."`
}

// Run starts an instance again that has ended.
func (c reopenCommand) Run(ctx context.Context, env *term.Env) error {
	cmd := &pb.Command{Action: &pb.Command_Reopen{Reopen: &pb.Reopen{To: c.To, Reason: c.reason(env)}}}
	return c.send(ctx, env, subject.Reopen, cmd, func(in view.Instance) string { return "starts again in " + in.State })
}
