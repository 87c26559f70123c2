package cli

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/ledger"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type budgetCommand struct {
	instanceArg
	Amount string `arg:"" name:"amount" help:"By how much: +5usd (also +5 or +$5) or +200000tokens; of a day also +2h."`
	Day    bool   `name:"day" env:"-" help:"Raise the budgets of this day (UTC) that are spent and cover its work, until the day ends."`
	Of     string `name:"of" env:"-" placeholder:"BUDGET" help:"Raise this budget of a day, as repo=acme/widgets,day=20usd, spent or not; implies --day."`
}

// Run raises the budget of an instance, or of the day.
func (c budgetCommand) Run(ctx context.Context, env *term.Env) error {
	if c.Day || c.Of != "" {
		return c.raiseDay(ctx, env)
	}
	raise, err := instance.ParseRaise(c.Amount)
	if err != nil {
		return service.Usagef("%w", err)
	}
	cmd := &pb.Command{Action: &pb.Command_Budget{Budget: &pb.RaiseBudget{Usd: raise.USD, Tokens: uint64(raise.Tokens)}}}
	return c.send(ctx, env, subject.Budget, cmd, func(in view.Instance) string {
		said := "may cost " + view.Raised(raise.USD, raise.Tokens) + " more"
		if in.Parked != nil && in.Parked.WaitsFor == instance.ForBudget {
			said += "; it waits for a day's budget, which --day raises"
		}
		return said
	})
}

func (c budgetCommand) raiseDay(ctx context.Context, env *term.Env) error {
	raise, err := ledger.ParseRaise(c.Amount)
	if err != nil {
		return service.Usagef("%w", err)
	}
	if c.Of != "" {
		if _, err := ledger.Parse(c.Of); err != nil {
			return service.Usagef("--of: %w", err)
		}
	}
	cmd := &pb.Command{Action: &pb.Command_RaiseDay{RaiseDay: &pb.RaiseDay{Budget: c.Of, Usd: raise.USD, Tokens: uint64(raise.Tokens),
		WallMs: uint64(raise.WallMS)}}}
	return c.send(ctx, env, subject.RaiseDay, cmd, func(view.Instance) string {
		return "today may cost " + view.RaisedDay(raise.USD, raise.Tokens, raise.WallMS) + " more"
	})
}
