package brain

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Watched is a brain that works turn by turn. It shows its cost after each turn, and its
// result before it ends.
type Watched interface {
	Brain
	// Watch works as Work does. The outcome's spend has no tokens and no money: w has them.
	Watch(ctx context.Context, a Assignment, w Watcher) (Outcome, error)
}

// Watcher is what a brain shows its work to. One goroutine uses it.
type Watcher interface {
	// Check returns in words why the outcome would not be taken; nil if it would.
	Check(ctx context.Context, out Outcome) error
	// Spend records a cost. An error that wraps ErrBudget means that no more may be spent.
	Spend(ctx context.Context, cost instance.Cost) error
	// Progress tells people what is going on, on one line.
	Progress(format string, args ...any)
	// Timed runs a brain that shows no turns. It records its time as it passes, under the
	// brain's name, and ends it when no more may be spent.
	Timed(ctx context.Context, name string, work func(context.Context) (Outcome, error)) (Outcome, error)
}

// Work has b work, watched by w if it can be.
func Work(ctx context.Context, b Brain, a Assignment, w Watcher) (Outcome, error) {
	if watched, ok := b.(Watched); ok {
		return watched.Watch(ctx, a, w)
	}
	return w.Timed(ctx, "", func(ctx context.Context) (Outcome, error) { return b.Work(ctx, a) })
}

// Unwatched has a brain work without a Watcher: its whole cost is in the outcome, and any
// outcome is taken.
func Unwatched(ctx context.Context, b Watched, a Assignment) (Outcome, error) {
	var t till
	out, err := b.Watch(ctx, a, &t)
	out.Result.Spend = out.Result.Spend.Add(t.cost)
	return out, err
}

// till is a Watcher that adds up the cost.
type till struct{ cost instance.Cost }

func (*till) Check(context.Context, Outcome) error { return nil }

func (t *till) Spend(_ context.Context, c instance.Cost) error {
	t.cost = t.cost.Add(c)
	return nil
}

func (*till) Progress(string, ...any) {}

func (*till) Timed(ctx context.Context, _ string, work func(context.Context) (Outcome, error)) (Outcome, error) {
	return work(ctx)
}
