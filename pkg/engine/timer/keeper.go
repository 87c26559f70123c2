package timer

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Engine is the part of the engine that a Keeper uses.
type Engine interface {
	Handle(ctx context.Context, cmd instance.Command, name string) (engine.Outcome, error)
	Known(id string) (instance.Instance, bool)
	List(ctx context.Context, keep func(instance.Instance) bool) ([]instance.Instance, error)
}

// Definitions finds lifecycles by content hash.
type Definitions interface {
	Hashed(ctx context.Context, hash string) (*workflow.Definition, error)
}

// Config configures a Keeper.
type Config struct {
	JetStream jetstream.JetStream
	// Stream creates what is missing of the stream TIMERS and its consumer, and returns
	// the stream. The Keeper fills a new stream.
	Stream      func(ctx context.Context) (jetstream.Stream, error)
	Engine      Engine
	Definitions Definitions
	// Own has the instances that this process's engine changed: their timers are armed
	// at once. Followed has all changed instances: timers that another process should
	// have armed are checked every OthersDelay; 0 is 10 s.
	Own, Followed *projection.Changes
	OthersDelay   time.Duration
	Now           func() time.Time
	Log           *slog.Logger
	// ReconcileEvery is the interval in which all timers are compared with all
	// instances, as at the start and at each reconnect; 0 is 5 minutes.
	ReconcileEvery time.Duration
	// Armed and Fired, if set, are called for each timer that was stored, and that the
	// engine accepted. Fired gets the time since it was due.
	Armed func()
	Fired func(late time.Duration)
}

// Keeper keeps the timers of all instances. Any number of them, in any number of
// processes, may run. Keep owns its fields; Fire may run concurrently.
type Keeper struct {
	Config
	stream     jetstream.Stream
	known      map[timerKey]stored
	fired      *projection.Changes // instances whose timers fired: the server removed them
	unreadable map[string]bool     // hashes of definitions that cannot be loaded
	failing    atomic.Bool         // the log says that due timers cannot be taken, once for all callers of Fire
}

// stored is a timer in the stream, as far as this process knows.
type stored struct {
	Timer
	streamSeq uint64 // sequence in TIMERS
}

// New returns a Keeper. Keep and Fire start it.
func New(c Config) *Keeper {
	if c.ReconcileEvery == 0 {
		c.ReconcileEvery = 5 * time.Minute
	}
	if c.OthersDelay == 0 {
		c.OthersDelay = 10 * time.Second
	}
	if c.Armed == nil {
		c.Armed = func() {}
	}
	if c.Fired == nil {
		c.Fired = func(time.Duration) {}
	}
	return &Keeper{Config: c, known: map[timerKey]stored{}, fired: projection.NewChanges(), unreadable: map[string]bool{}}
}

// Keep arms and disarms timers until ctx ends. The engine must have read the log.
// Errors are logged, and everything is reconciled once the server answers.
func (k *Keeper) Keep(ctx context.Context) error {
	conn := k.JetStream.Conn()
	back := conn.StatusChanged(nats.CONNECTED)
	defer conn.RemoveStatusListener(back)
	sweep, behind := time.NewTicker(k.ReconcileEvery), time.NewTicker(k.OthersDelay)
	defer sweep.Stop()
	defer behind.Stop()
	pause, failing := pacing.Backoff(100*time.Millisecond, 5*time.Second), false
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
			next = k.followOthers
		case <-own:
			next = k.followOwn
		case <-fired:
			next = k.followOwn
		}
		if failing {
			next = k.reconcile
		}
	}
}

// followOwn updates the timers of the instances that this process changed.
func (k *Keeper) followOwn(ctx context.Context) error {
	return k.update(ctx, append(k.Own.Take(), k.forgetFired()...))
}

// forgetFired drops the known timers of instances with a fired one, and returns the
// instances.
func (k *Keeper) forgetFired() []string {
	ids := k.fired.Take()
	for _, id := range ids {
		for _, kind := range kinds() {
			delete(k.known, timerKey{id, kind})
		}
	}
	return ids
}

// followOthers updates the timers of the instances that any process changed.
func (k *Keeper) followOthers(ctx context.Context) error {
	ids := append(k.Followed.Take(), k.forgetFired()...)
	for _, id := range ids {
		in, ok := k.Engine.Known(id)
		if !ok {
			continue
		}
		for _, t := range k.timersOf(ctx, in) {
			if h, holds := k.known[t.key()]; holds && h.same(t) {
				continue
			}
			present, err := k.current(ctx, t.armedSubject())
			if err != nil {
				return err
			}
			k.known[t.key()] = present
		}
	}
	return k.update(ctx, ids)
}

// update arms and disarms the timers of some instances.
func (k *Keeper) update(ctx context.Context, ids []string) error {
	var arm, drop []Timer
	for _, id := range ids {
		in, ok := k.Engine.Known(id)
		if !ok {
			continue
		}
		want := k.timersOf(ctx, in)
		for _, kind := range kinds() {
			h, holds := k.known[timerKey{id, kind}]
			i := slices.IndexFunc(want, func(t Timer) bool { return t.Kind == kind })
			switch {
			case holds && h.Commit > in.Seq: // another process is ahead of this one
			case i >= 0 && !(holds && h.same(want[i])):
				arm = append(arm, want[i])
			case i < 0 && holds:
				drop = append(drop, h.Timer)
			}
		}
	}
	return k.armAndDisarm(ctx, arm, drop)
}

// timersOf is Of with the instance's definition. Without the definition it returns
// none and logs that once.
func (k *Keeper) timersOf(ctx context.Context, in instance.Instance) []Timer {
	if in.Closed != "" {
		return nil
	}
	def, err := k.Definitions.Hashed(ctx, in.Definition)
	if err != nil {
		if !k.unreadable[in.Definition] && ctx.Err() == nil {
			k.Log.Warn("no timers for instances of this definition", "error", err)
			k.unreadable[in.Definition] = true
		}
		return nil
	}
	delete(k.unreadable, in.Definition)
	return Of(def, in)
}
