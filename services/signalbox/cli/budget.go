package cli

import (
	"context"
	"regexp"
	"strconv"

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

// amount is a raise.
var amount = regexp.MustCompile(`^\+(?:\$([0-9]+(?:\.[0-9]+)?)|([0-9]+(?:\.[0-9]+)?)usd|([0-9]+)tokens)$`)

// Run raises the budget of an instance.
func (c budgetCommand) Run(ctx context.Context, env *term.Env) error {
	m := amount.FindStringSubmatch(c.Amount)
	if m == nil {
		return service.Usagef("%q is no raise; want an amount such as +5usd or +200000tokens", c.Amount)
	}
	raise := &pb.RaiseBudget{}
	var err error
	if m[3] != "" {
		raise.Tokens, err = strconv.ParseUint(m[3], 10, 64)
	} else {
		raise.Usd, err = strconv.ParseFloat(m[1]+m[2], 64)
	}
	if err != nil {
		return service.Usagef("%q is too much", c.Amount)
	}
	cmd := &pb.Command{Action: &pb.Command_Budget{Budget: raise}}
	return c.send(ctx, env, subject.Budget, cmd, func(view.Instance) string {
		return "may cost " + view.Raised(raise.GetUsd(), int64(raise.GetTokens())) + " more"
	})
}
