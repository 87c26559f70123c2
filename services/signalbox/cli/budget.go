package cli

import (
	"context"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type budgetCommand struct {
	instanceArg
	Amount string `arg:"" name:"amount" help:"By how much: +5usd, +$5 or +200000tokens."`
}

// Run raises the budget of an instance.
func (c budgetCommand) Run(ctx context.Context, env *term.Env) error {
	raise, err := instance.ParseRaise(c.Amount)
	if err != nil {
		return service.Usagef("%w", err)
	}
	cmd := &pb.Command{Action: &pb.Command_Budget{Budget: &pb.RaiseBudget{Usd: raise.USD, Tokens: uint64(raise.Tokens)}}}
	return c.send(ctx, env, subject.Budget, cmd, func(view.Instance) string {
		return "may cost " + view.Raised(raise.USD, raise.Tokens) + " more"
	})
}
