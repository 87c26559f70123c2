package cli

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type overrideCommand struct {
	instanceArg
	To     string `name:"to" required:"" env:"-" placeholder:"STATE" help:"Where it goes, whatever the table permits."`
	Reason string `name:"reason" short:"r" required:"" env:"-" help:"Why, for the log."`
}

// Run moves an instance to any state.
func (c overrideCommand) Run(ctx context.Context, env *term.Env) error {
	cmd := &pb.Command{Action: &pb.Command_Override{Override: &pb.Override{To: c.To, Reason: c.Reason}}}
	return c.send(ctx, env, subject.Override, cmd, func(in view.Instance) string { return "now in " + in.State })
}
