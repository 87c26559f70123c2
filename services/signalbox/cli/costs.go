package cli

import (
	"context"
	"time"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type costsCommand struct {
	reading
	Workflow string        `arg:"" optional:"" help:"Only of instances of this lifecycle."`
	By       string        `name:"by" env:"-" enum:"repo,role,brain,state,day,instance" default:"instance" help:"Sum by repo, role, brain, state, day (UTC) or instance."`
	Within   time.Duration `name:"within" env:"-" placeholder:"TIME" help:"Only what was spent within this time, such as 24h or 7d."`
}

// Run prints what steps cost.
func (c costsCommand) Run(ctx context.Context, env *term.Env) error {
	return c.read(ctx, env, func(ctx context.Context, s reader) error {
		found, err := s.List(ctx, &pb.ListRequest{Workflow: c.Workflow, All: true})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			if err := (lsCommand{Workflow: c.Workflow}).known(ctx, s); err != nil {
				return err
			}
		}
		var since time.Time
		if c.Within > 0 {
			since = env.Now().Add(-c.Within)
		}
		sums := view.NewCosts(c.By, since)
		for _, in := range found {
			records, err := s.History(ctx, in.GetInstance(), 0)
			if err != nil {
				return err
			}
			sums.Add(in.GetInstance(), view.Commits(records))
		}
		return sums.Print(env)
	})
}
