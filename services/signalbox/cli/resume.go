package cli

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type resumeCommand struct{ instanceReason }

// Run resumes a paused instance.
func (c resumeCommand) Run(ctx context.Context, env *term.Env) error {
	cmd := &pb.Command{Action: &pb.Command_Resume{Resume: &pb.Resume{Reason: c.reason(env)}}}
	return c.send(ctx, env, subject.Resume, cmd, func(in view.Instance) string { return "goes on in " + in.State })
}
