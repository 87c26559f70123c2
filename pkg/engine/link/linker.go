// Package link carries out what instances record about each other: it opens the
// children that they spawn, and notifies linked instances of an end. It follows the
// log and sends commands whose ids derive from the two instances. So any number of
// processes may do it, and repeat it.
package link

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Engine is the part of the engine that a Linker uses.
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

// Config configures a Linker.
type Config struct {
	Engine      Engine
	Definitions Definitions
	Changes     *projection.Changes // instances that were opened, spawned another or ended
	Log         *slog.Logger
}

// Linker links the instances of one process's engine. Only Run uses its fields.
type Linker struct {
	Config
	waiters          map[string]map[string]bool // by instance: those to notify of its end
	unknownWorkflows map[string]bool            // workflows without a definition here
}

// New returns a Linker. Run starts it.
func New(c Config) *Linker {
	return &Linker{Config: c, waiters: map[string]map[string]bool{}, unknownWorkflows: map[string]bool{}}
}

// Run links until ctx ends. At its start Changes must have every instance of the
// log.
func (l *Linker) Run(ctx context.Context) error {
	pause := pacing.Backoff(100*time.Millisecond, 5*time.Second)
	failing := false
	for {
		left, err := l.linkAll(ctx, l.Changes.Take())
		var retry <-chan time.Time
		more := l.Changes.More()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if !failing {
				l.Log.Warn("instances could not be linked; trying again", "instances", len(left), "error", err)
			}
			l.Changes.Note(left...)
			retry, more = time.After(pause.NextBackOff()), nil
		default:
			pause.Reset()
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-retry:
		case <-more:
		}
	}
}

// linkAll links the instances. left are those whose links failed.
func (l *Linker) linkAll(ctx context.Context, ids []string) (left []string, err error) {
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

// link opens the missing children of an instance, notifies it of ends, and notifies
// others of its own end.
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
			faults = errors.Join(faults, l.notifyEnd(ctx, id, endOf(other)))
		case !known && to.Kind == instance.Child:
			faults = errors.Join(faults, l.open(ctx, id, to))
			fallthrough
		default:
			l.addWaiter(id, to.Instance)
		}
	}
	if in.Closed == "" {
		return faults
	}
	for _, waiter := range slices.Sorted(maps.Keys(l.waiters[id])) {
		faults = errors.Join(faults, l.notifyEnd(ctx, waiter, endOf(in)))
	}
	return faults
}

// addWaiter records that an instance is to be notified of the end of another.
func (l *Linker) addWaiter(id, other string) {
	if l.waiters[other] == nil {
		l.waiters[other] = map[string]bool{}
	}
	l.waiters[other][id] = true
}

// endOf returns how an instance ended: well, if in a final state and not by a
// failure of the work.
func endOf(in instance.Instance) instance.End {
	return instance.End{Instance: in.ID, State: in.State, Well: in.Closed == instance.Ended && !in.Failed}
}

// notifyEnd sends an end to an instance, unless it has been recorded there.
func (l *Linker) notifyEnd(ctx context.Context, waiter string, e instance.End) error {
	err := l.handle(ctx, instance.Command{ID: commandID("end", waiter, e.Instance), Instance: waiter, Do: e}, "")
	var no *instance.Refusal
	switch {
	case err == nil, errors.As(err, &no) && no.Code == instance.CodeStale:
	case no != nil:
		l.Log.Error("an instance cannot be notified of the end of another", "instance", waiter, "other", e.Instance, "error", err)
	default:
		return err
	}
	delete(l.waiters[e.Instance], waiter)
	if len(l.waiters[e.Instance]) == 0 {
		delete(l.waiters, e.Instance)
	}
	return nil
}
