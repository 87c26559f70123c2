package brain

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Named is a brain that puts its name to what it costs. It implements Watched.
type Named struct {
	Brain
	Name string // such as exec:claude
}

// Work implements Brain.
func (n Named) Work(ctx context.Context, a Assignment) (Outcome, error) {
	return Unwatched(ctx, n, a)
}

// Watch implements Watched. A brain that is not watched itself has its cost in the
// outcome.
func (n Named) Watch(ctx context.Context, a Assignment, w Watcher) (Outcome, error) {
	out, err := Work(ctx, n.Brain, a, signed{w, n.Name})
	out.Result.Spend.Brain = n.Name
	return out, err
}

// signed is a Watcher of a brain with a name.
type signed struct {
	Watcher
	name string
}

// Spend implements Watcher.
func (s signed) Spend(ctx context.Context, c instance.Cost) error {
	c.Brain = s.name
	return s.Watcher.Spend(ctx, c)
}

// Timed implements Watcher.
func (s signed) Timed(ctx context.Context, _ string, work func(context.Context) (Outcome, error)) (Outcome, error) {
	return s.Watcher.Timed(ctx, s.name, work)
}
