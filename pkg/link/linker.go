// Package link makes good what instances say of each other: it opens those that
// others spawned, and tells each how those it is linked to ended. It reads the
// log and gives commands, each under an id that follows from the two instances:
// any number of processes may do the same, and do it again.
package link

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// Engine is what a Linker asks of the engine.
type Engine interface {
	Handle(ctx context.Context, cmd instance.Command, name string) (engine.Outcome, error)
	Get(ctx context.Context, id string) (instance.Instance, error)
	Known(id string) (instance.Instance, bool)
}

// Definitions finds lifecycles.
type Definitions interface {
	Named(name string) (*workflow.Definition, error)
	Hashed(ctx context.Context, hash string) (*workflow.Definition, error)
}

// Config is what a Linker works with.
type Config struct {
	Engine      Engine
	Definitions Definitions
	Changes     *engine.Changes // instances that were opened, spawned another or ended
	Log         *slog.Logger
}

// Linker is one process's.
type Linker struct {
	Config
	waiting map[string]map[string]bool // who has to hear of an instance's end
	strange map[string]bool            // lifecycles that nobody here has
}

// New returns a Linker that knows nothing yet.
func New(c Config) *Linker {
	return &Linker{Config: c, waiting: map[string]map[string]bool{}, strange: map[string]bool{}}
}

// Run links until ctx ends. Changes has every instance of the log at the start.
func (l *Linker) Run(ctx context.Context) error {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 100*time.Millisecond, 5*time.Second
	failing := false
	for {
		left, err := l.round(ctx, l.Changes.Take())
		var again <-chan time.Time
		more := l.Changes.More()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if !failing {
				l.Log.Warn("instances could not be linked; trying again", "instances", len(left), "error", err)
			}
			l.Changes.Note(left...)
			again, more = time.After(pause.NextBackOff()), nil
		default:
			pause.Reset()
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		case <-more:
		}
	}
}

// round does what follows from the instances; those that it could not do it for
// are left.
func (l *Linker) round(ctx context.Context, ids []string) (left []string, err error) {
	for _, id := range ids {
		if e := l.link(ctx, id); e != nil {
			left, err = append(left, id), errors.Join(err, e)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return left, err
}

func (l *Linker) link(ctx context.Context, id string) error {
	in, ok := l.Engine.Known(id)
	if !ok {
		return nil
	}
	var faults error
	for _, to := range in.Links {
		if to.Ended {
			continue
		}
		other, known := l.Engine.Known(to.Instance)
		switch {
		case known && other.Closed != "":
			faults = errors.Join(faults, l.tell(ctx, id, end(other)))
		case !known && to.Kind == instance.Child:
			faults = errors.Join(faults, l.open(ctx, id, to))
			fallthrough
		default:
			l.wait(id, to.Instance)
		}
	}
	if in.Closed == "" {
		return faults
	}
	for _, who := range slices.Sorted(maps.Keys(l.waiting[id])) {
		faults = errors.Join(faults, l.tell(ctx, who, end(in)))
	}
	return faults
}

func (l *Linker) wait(who, forWhom string) {
	if l.waiting[forWhom] == nil {
		l.waiting[forWhom] = map[string]bool{}
	}
	l.waiting[forWhom][who] = true
}

// end is how an instance ended: well, if by itself and not by a failure of the work.
func end(in instance.Instance) instance.End {
	return instance.End{Instance: in.ID, State: in.State, Well: in.Closed == instance.Ended && !in.Failed}
}

// tell tells an instance of an end, unless it knows.
func (l *Linker) tell(ctx context.Context, who string, e instance.End) error {
	err := l.handle(ctx, instance.Command{ID: commandID("end", who, e.Instance), Instance: who, Do: e}, "")
	var no *instance.Refusal
	switch {
	case err == nil, errors.As(err, &no) && no.Code == instance.CodeStale:
	case no != nil:
		l.Log.Error("an instance cannot be told how another ended", "instance", who, "other", e.Instance, "error", err)
	default:
		return err
	}
	delete(l.waiting[e.Instance], who)
	if len(l.waiting[e.Instance]) == 0 {
		delete(l.waiting, e.Instance)
	}
	return nil
}
