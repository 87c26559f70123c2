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
	// Own are the instances that this process's engine made a commit of: it arms
	// their timers at once. Followed are all that had one: timers that another
	// process should have armed are looked at Behind it, 10 s if that is 0.
	Own, Followed *engine.Changes
	Behind        time.Duration
	Now           func() time.Time
	Log           *slog.Logger
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
	have   map[place]held
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
	if c.Behind == 0 {
		c.Behind = 10 * time.Second
	}
	if c.Armed == nil {
		c.Armed = func() {}
	}
	if c.Fired == nil {
		c.Fired = func(time.Duration) {}
	}
	return &Keeper{Config: c, have: map[place]held{}, fired: engine.NewChanges(), blind: map[string]bool{}}
}

// Keep has the timers be those that the instances should have, until ctx ends.
// The engine has read the log by then. Whatever goes wrong is logged and made
// good as soon as the server answers.
func (k *Keeper) Keep(ctx context.Context) error {
	conn := k.JetStream.Conn()
	back := conn.StatusChanged(nats.CONNECTED)
	defer conn.RemoveStatusListener(back)
	sweep, behind := time.NewTicker(k.Sweep), time.NewTicker(k.Behind)
	defer sweep.Stop()
	defer behind.Stop()
	pause, failing := pauses(), false
	for next := k.reconcile; ; {
		err := next(ctx)
		own, fired := k.Own.More(), k.fired.More()
		var again <-chan time.Time
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if !failing {
				k.Log.Warn("timers could not be armed; trying again", "error", err)
			}
			own, fired, again = nil, nil, time.After(pause.NextBackOff())
		default:
			pause.Reset()
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-again:
			next = k.reconcile
		case <-sweep.C:
			next = k.reconcile
		case <-back:
			next = k.reconcile
		case <-behind.C:
			next = k.check
		case <-own:
			next = k.follow
		case <-fired:
			next = k.follow
		}
		if failing {
			next = k.reconcile
		}
	}
}

// follow looks at the instances that this process changed.
func (k *Keeper) follow(ctx context.Context) error {
	return k.update(ctx, append(k.Own.Take(), k.forget()...))
}

// forget drops what is held of instances that a timer fired of, and returns them.
func (k *Keeper) forget() []string {
	ids := k.fired.Take()
	for _, id := range ids {
		for _, kind := range []Kind{Deadline, Wake} {
			delete(k.have, place{id, kind})
		}
	}
	return ids
}

// check looks at the instances that anybody changed.
func (k *Keeper) check(ctx context.Context) error {
	ids := append(k.Followed.Take(), k.forget()...)
	for _, id := range ids {
		in, ok := k.Engine.Known(id)
		if !ok {
			continue
		}
		for _, t := range k.of(ctx, in) {
			if h, holds := k.have[t.place()]; holds && h.same(t) {
				continue
			}
			present, err := k.last(ctx, t.waits())
			if err != nil {
				return err
			}
			k.have[t.place()] = present
		}
	}
	return k.update(ctx, ids)
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
			h, holds := k.have[place{id, kind}]
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
