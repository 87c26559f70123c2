package timer

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// Engine is what a Keeper asks of the engine.
type Engine interface {
	Handle(ctx context.Context, cmd instance.Command, name string) (engine.Outcome, error)
	Known(id string) (instance.Instance, bool)
	List(ctx context.Context, keep func(instance.Instance) bool) ([]instance.Instance, error)
}

// Definitions finds lifecycles by content hash.
type Definitions interface {
	Hashed(ctx context.Context, hash string) (*workflow.Definition, error)
}

// Config is what a Keeper works with.
type Config struct {
	JetStream jetstream.JetStream
	// Stream makes what is missing of the stream TIMERS and its consumer, and
	// returns it: a stream that was lost is made anew and filled.
	Stream      func(ctx context.Context) (jetstream.Stream, error)
	Engine      Engine
	Definitions Definitions
	Changes     *engine.Changes // instances whose timers may be others now
	Now         func() time.Time
	Log         *slog.Logger
	// Sweep is how often all timers are compared with all instances, beside the
	// start and each return of the connection; 0 is 5 minutes.
	Sweep time.Duration
	// Armed and Fired, if set, are told of each timer that was stored, and of
	// each that the engine took, so long after it was due.
	Armed func()
	Fired func(late time.Duration)
}

// Keeper keeps the timers of all instances. Any number of them, in any number
// of processes, may keep the same.
type Keeper struct {
	Config
	stream jetstream.Stream
	have   map[string]held // by the subject where it waits
	fired  *engine.Changes // instances whose timers the server has taken away
	blind  map[string]bool // definitions that cannot be read
}

// held is a timer that waits, as far as this process knows.
type held struct {
	Timer
	at uint64 // its sequence in TIMERS
}

// New returns a Keeper that knows nothing yet.
func New(c Config) *Keeper {
	if c.Sweep == 0 {
		c.Sweep = 5 * time.Minute
	}
	if c.Armed == nil {
		c.Armed = func() {}
	}
	if c.Fired == nil {
		c.Fired = func(time.Duration) {}
	}
	return &Keeper{Config: c, have: map[string]held{}, fired: engine.NewChanges(), blind: map[string]bool{}}
}

// Keep has the timers be those that the instances should have, until ctx ends.
// The engine has read the log by then. Whatever goes wrong is logged and made
// good as soon as the server answers.
func (k *Keeper) Keep(ctx context.Context) error {
	conn := k.JetStream.Conn()
	back := conn.StatusChanged(nats.CONNECTED)
	defer conn.RemoveStatusListener(back)
	tick := time.NewTicker(k.Sweep)
	defer tick.Stop()
	pause, failing := pauses(), false
	for all := true; ; {
		var again <-chan time.Time
		err := k.round(ctx, all)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if !failing {
				k.Log.Warn("timers could not be armed; trying again", "error", err)
			}
			again = time.After(pause.NextBackOff())
		default:
			pause.Reset()
		}
		all, failing = err != nil, err != nil
		changed, fired := k.Changes.More(), k.fired.More()
		if failing {
			changed, fired = nil, nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		case <-tick.C:
			all = true
		case <-back:
			all = true
		case <-changed:
		case <-fired:
		}
	}
}

// round looks at the instances that changed, or at all.
func (k *Keeper) round(ctx context.Context, all bool) error {
	changed := k.Changes.Take()
	for _, id := range k.fired.Take() {
		for _, kind := range []Kind{Deadline, Wake} {
			if armed, _, err := (Timer{Instance: id, Kind: kind}).subjects(); err == nil {
				delete(k.have, armed)
			}
		}
		changed = append(changed, id)
	}
	if all {
		return k.reconcile(ctx)
	}
	return k.update(ctx, changed)
}

// update has the timers of some instances be right.
func (k *Keeper) update(ctx context.Context, ids []string) error {
	var arm, drop []Timer
	for _, id := range ids {
		in, ok := k.Engine.Known(id)
		if !ok {
			continue
		}
		want := k.of(ctx, in)
		for _, kind := range []Kind{Deadline, Wake} {
			armed, _, err := (Timer{Instance: id, Kind: kind}).subjects()
			if err != nil {
				return err
			}
			h, holds := k.have[armed]
			i := slices.IndexFunc(want, func(t Timer) bool { return t.Kind == kind })
			switch {
			case holds && h.Seq > in.Seq: // another process is ahead of this one
			case i >= 0 && !(holds && h.same(want[i])):
				arm = append(arm, want[i])
			case i < 0 && holds:
				drop = append(drop, h.Timer)
			}
		}
	}
	return k.change(ctx, arm, drop)
}

// of is Of, of an instance whose definition may be out of reach.
func (k *Keeper) of(ctx context.Context, in instance.Instance) []Timer {
	if in.Closed != "" {
		return nil
	}
	def, err := k.Definitions.Hashed(ctx, in.Definition)
	if err != nil {
		if !k.blind[in.Definition] && ctx.Err() == nil {
			k.Log.Warn("no timers for instances of this definition", "error", err)
			k.blind[in.Definition] = true
		}
		return nil
	}
	delete(k.blind, in.Definition)
	return Of(def, in)
}

func pauses() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = 100*time.Millisecond, 5*time.Second
	return b
}
