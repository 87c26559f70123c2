package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
)

// A commit that never was is asked for in vain: that is no damage.
func TestALogIsNotDamagedByWhatItIsAskedFor(t *testing.T) {
	g := eventstore.NewGuard(memory.New())
	first := eventstoretest.Grow(t, g, "a", 1, eventstore.Commit{})
	if _, err := g.Since(t.Context(), "a", 7); !errors.Is(err, eventstore.ErrCorrupt) {
		t.Fatalf("got %v", err)
	}
	if _, err := g.Since(t.Context(), "b", 1); !errors.Is(err, eventstore.ErrCorrupt) {
		t.Fatalf("of an instance that was never opened: %v", err)
	}
	eventstoretest.Put(t, g, eventstoretest.Next("a", "second", first[0]))
	if err := g.Err(); err != nil {
		t.Errorf("it is said to be damaged: %v", err)
	}
}

// spoilt answers reads with an error.
type spoilt struct {
	eventstore.Store
	err error
}

func (s spoilt) Load(context.Context, string) ([]eventstore.Commit, error) { return nil, s.err }
func (s spoilt) Last(context.Context, string) (eventstore.Commit, error) {
	return eventstore.Commit{}, s.err
}

func (s spoilt) Since(context.Context, string, uint64) ([]eventstore.Commit, error) {
	return nil, s.err
}

func TestAGuardIsTheStoreItGuards(t *testing.T) {
	eventstoretest.Run(t, func(*testing.T) eventstore.Store { return eventstore.NewGuard(memory.New()) })
}

func TestNothingIsAppendedToALogThatProvedDamaged(t *testing.T) {
	torn := fmt.Errorf("%w: sequence 3 is missing", eventstore.ErrCorrupt)
	for name, c := range map[string]struct {
		err  error
		find func(context.Context, *eventstore.Guard) error
		ends bool
	}{
		"Load finds it":  {torn, func(ctx context.Context, g *eventstore.Guard) error { _, err := g.Load(ctx, "a"); return err }, true},
		"Last finds it":  {torn, func(ctx context.Context, g *eventstore.Guard) error { _, err := g.Last(ctx, "a"); return err }, true},
		"Since finds it": {torn, func(ctx context.Context, g *eventstore.Guard) error { _, err := g.Since(ctx, "a", 1); return err }, true},
		"a reader finds it": {torn, func(ctx context.Context, g *eventstore.Guard) error {
			return g.Read(ctx, 1, func(eventstore.Commit) error { return torn }, nil)
		}, true},
		"nothing is unknown": {eventstore.ErrUnknown, func(ctx context.Context, g *eventstore.Guard) error { _, err := g.Load(ctx, "a"); return err }, false},
	} {
		t.Run(name, func(t *testing.T) {
			log := memory.New()
			g := eventstore.NewGuard(spoilt{log, c.err})
			first := eventstoretest.Grow(t, g, "a", 1, eventstore.Commit{})
			if err := c.find(t.Context(), g); !errors.Is(err, c.err) {
				t.Fatalf("got %v", err)
			}
			_, err := g.Append(t.Context(), eventstoretest.Next("a", "second", first[0]))
			head, _ := log.Head(t.Context())
			if c.ends != errors.Is(err, eventstore.ErrCorrupt) || c.ends != (head == 1) {
				t.Errorf("the append is answered %v, and the log ends at %d", err, head)
			}
			select {
			case <-g.Damaged():
				if !c.ends || !errors.Is(g.Err(), eventstore.ErrCorrupt) {
					t.Errorf("it is damaged: %v", g.Err())
				}
			default:
				if c.ends {
					t.Error("it is said to be sound")
				}
			}
		})
	}
}
