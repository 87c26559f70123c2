package brain_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// turns is a brain that costs a token at a turn.
type turns struct{}

func (b turns) Work(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
	return brain.Unwatched(ctx, b, a)
}

func (b turns) Watch(ctx context.Context, _ brain.Assignment, w brain.Watcher) (brain.Outcome, error) {
	return brain.Outcome{}, w.Spend(ctx, instance.Cost{TokensOut: 1})
}

// book is a Watcher that keeps the costs.
type book struct {
	costs []instance.Cost
	timed []string
}

func (*book) Check(context.Context, brain.Outcome) error { return nil }
func (*book) Progress(string, ...any)                    {}
func (b *book) Timed(ctx context.Context, name string, work func(context.Context) (brain.Outcome, error)) (brain.Outcome, error) {
	b.timed = append(b.timed, name)
	return work(ctx)
}
func (b *book) Spend(_ context.Context, c instance.Cost) error {
	b.costs = append(b.costs, c)
	return nil
}

func TestABrainsNameGoesWithItsCosts(t *testing.T) {
	var told []string
	chain := brain.Chain{
		{Name: "a", Brain: brain.Named{Name: "exec:a", Brain: saying{"a", brain.ErrInfrastructure, &told}}},
		{Name: "b", Brain: brain.Named{Name: "model:b", Brain: turns{}}},
	}
	var seen book
	out, err := brain.Work(t.Context(), chain, brain.Assignment{}, &seen)
	want := []instance.Cost{{TokensIn: 1, Brain: "exec:a"}, {TokensOut: 1, Brain: "model:b"}}
	if d := cmp.Diff(want, seen.costs); d != "" || err != nil || out.Result.Spend != (instance.Cost{Brain: "model:b"}) {
		t.Errorf("%v, %+v, -want +got:\n%s", err, out.Result.Spend, d)
	}
	if d := cmp.Diff([]string{"exec:a"}, seen.timed); d != "" {
		t.Errorf("who shows no turns is timed under its name: %s", d)
	}
	for want, b := range map[string]brain.Brain{"": chain, "model:b": chain[1], "exec:a": brain.Chain{chain[0]}} {
		if out, _ := b.Work(t.Context(), brain.Assignment{}); out.Result.Spend.Brain != want || out.Result.Spend.Zero() {
			t.Errorf("%+v, want %q", out.Result.Spend, want)
		}
	}
}
