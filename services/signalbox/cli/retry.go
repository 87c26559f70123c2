package cli

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type retryCommand struct{ instanceReason }

// Run dispatches the work to the owner once more.
func (c retryCommand) Run(ctx context.Context, env *term.Env) error {
	cmd := &pb.Command{Action: &pb.Command_Retry{Retry: &pb.Retry{Reason: c.reason(env)}}}
	return c.send(ctx, env, subject.Retry, cmd, func(in view.Instance) string {
		return fmt.Sprintf("%s is given the work of %s once more", in.Owner, in.State)
	})
}
