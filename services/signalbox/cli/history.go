package cli

import (
	"context"

	"github.com/signalbox/signalbox/pkg/document/task"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type historyCommand struct {
	readingOne
	All    bool   `name:"all" short:"a" env:"-" help:"Also the events that only say how work is given out: dispatched, claimed, reported, spent."`
	Format string `name:"format" env:"-" enum:"events,task" default:"events" help:"events, or task: the events of the task lifecycle, one line of JSON each."`
}

// Run prints the events of an instance.
func (c historyCommand) Run(ctx context.Context, env *term.Env) error {
	return c.readOne(ctx, env, &c.ID, func(ctx context.Context, s reader) error {
		commits, err := s.History(ctx, c.ID, 0)
		if err != nil {
			return err
		}
		if c.Format == "task" {
			for _, e := range task.Events(c.ID, view.Commits(commits)) {
				if err := env.Print(e); err != nil {
					return err
				}
			}
			return nil
		}
		return view.Table(env, view.History(c.ID, commits), c.All)
	})
}
