package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/ledger"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
)

// useEvery is how often the metric of the budgets is set.
const useEvery = 10 * time.Second

// budgets reads Budget. A role that no lifecycle has is an error.
func (s Settings) budgets(defs []*workflow.Definition) (all []ledger.Budget, err error) {
	var roles []string
	for _, d := range defs {
		roles = append(roles, d.Roles()...)
	}
	for _, text := range s.Budget {
		b, err := ledger.Parse(text)
		if err == nil {
			err = known("role", b.Role, roles)
		}
		if err != nil {
			return nil, service.Usagef("--budget: %w", err)
		}
		all = append(all, b)
	}
	return all, nil
}

// spending keeps a ledger in step with the log.
type spending struct {
	*ledger.Ledger
	store   eventstore.Store
	metrics *metrics
	log     *slog.Logger
}

// follow sums what is spent from the begin of the day on, once there is a budget, and
// calls caught when it has what was spent before. It returns with ctx.
func (s spending) follow(ctx context.Context, caught func()) error {
	select {
	case <-s.Wanted():
	case <-ctx.Done():
		return nil
	}
	from, err := ledger.Start(ctx, s.store, ledger.Day(time.Now()))
	if err != nil {
		return fmt.Errorf("find what was spent today: %w", err)
	}
	s.Begin()
	return s.store.Read(ctx, from, func(c eventstore.Commit) error {
		if c.Foreign != nil {
			return nil
		}
		commit, err := wire.ToCommit(c)
		if err != nil {
			return err
		}
		warnOf(s.log, s.Note(commit, c.Instance))
		return nil
	}, func() { s.CaughtUp(); caught() })
}

// warnOf tells people of budgets that are spent, or nearly.
func warnOf(log *slog.Logger, passed []ledger.Use) {
	for _, use := range passed {
		what := "more than 80 % of a budget is spent; when all is, its work rests until the day ends"
		if use.Part >= 1 {
			what = "a budget is spent; its work rests until the day ends"
		}
		log.Warn(what, "budget", use.Budget.String(), "spent", use.Said)
	}
}

// spending adds what holds the budgets to the host, and returns when it knows what was
// spent today of those of the operator.
func (o orchestrator) spending(ctx context.Context, h *service.Host, l *ledger.Ledger) error {
	s := spending{l, o.log, o.metrics, h.Log}
	caught, failed, stopped := make(chan struct{}), make(chan error, 1), make(chan struct{})
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(stopped)
		failed <- s.follow(reading, func() { close(caught) })
	}()
	h.AddBase("budgets", func(ctx context.Context) error {
		defer func() { stop(); <-stopped }()
		tick := time.NewTicker(useEvery)
		defer tick.Stop()
		for {
			s.metrics.used.Reset() // of repositories some are no more
			for _, use := range s.Uses(time.Now()) {
				s.metrics.used.WithLabelValues(use.Budget.String()).Set(use.Part)
			}
			select {
			case err := <-failed:
				return fmt.Errorf("the costs can no longer be followed: %w", err)
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
	})
	if len(o.budgets) == 0 { // those of repositories are read when there are some
		return nil
	}
	select {
	case <-caught:
		return nil
	case err := <-failed:
		stop()
		return fmt.Errorf("read what was spent: %w", err)
	case <-ctx.Done():
		stop()
		return errors.Join(context.Cause(ctx), <-failed)
	}
}
