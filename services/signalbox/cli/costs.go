package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type costsCommand struct {
	reading
	Of     string        `arg:"" optional:"" name:"workflow" help:"Only of instances of this lifecycle, or of this instance."`
	By     string        `name:"by" env:"-" enum:"repo,role,brain,state,day,instance" default:"instance" help:"Sum by repo, role, brain, state, day (UTC) or instance."`
	Within time.Duration `name:"within" env:"-" placeholder:"TIME" help:"Only what was spent within this time, such as 24h or 7d."`
}

// Run prints what steps cost.
func (c costsCommand) Run(ctx context.Context, env *term.Env) error {
	return c.read(ctx, env, func(ctx context.Context, s reader) error {
		var since time.Time
		if c.Within > 0 {
			since = env.Now().Add(-c.Within)
		}
		sums := view.NewCosts(c.By, since)
		if running, ok := s.(system); ok && c.Within == 0 && c.By != "instance" {
			known, err := c.summed(ctx, running, sums)
			if err != nil {
				return err
			}
			if known || c.Of == "" {
				return sums.Print(env)
			}
		}
		ids, err := c.ids(ctx, s)
		if err != nil {
			return err
		}
		for _, id := range ids {
			records, err := s.History(ctx, id, 0)
			if err != nil {
				return err
			}
			sums.Add(id, records)
		}
		return sums.Print(env)
	})
}

// summed takes the sums of the orchestrator, which has read the log once for all. It reports whether there are any.
func (c costsCommand) summed(ctx context.Context, s system, sums *view.Costs) (known bool, err error) {
	reply := &pb.CostsReply{Reading: true}
	for reply.GetReading() {
		if reply, err = s.Costs(ctx, &pb.CostsRequest{Workflow: c.Of, By: []string{c.By}}); err != nil {
			return false, err
		}
	}
	sums.Take(reply.GetSums())
	return len(reply.GetSums()) > 0, nil
}

// ids returns the instances whose histories are read.
func (c costsCommand) ids(ctx context.Context, s reader) (ids []string, err error) {
	found, err := s.List(ctx, &pb.ListRequest{Workflow: c.Of, All: true})
	if err != nil {
		return nil, err
	}
	for _, in := range found {
		ids = append(ids, in.GetInstance())
	}
	if len(ids) > 0 || c.Of == "" {
		return ids, nil
	}
	unknown := (lsCommand{Workflow: c.Of}).known(ctx, s)
	if unknown == nil {
		return nil, nil
	}
	id := c.Of
	err = completed(ctx, s, &id, func() error { _, err := s.Get(ctx, id); return err })
	switch {
	case err == nil:
		return []string{id}, nil
	case strings.Contains(c.Of, "/"): // it is the id of an instance
		return nil, err
	}
	return nil, fmt.Errorf("%w, and no instance has this id", unknown)
}
