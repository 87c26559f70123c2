// Package load is agents that do nothing, and who opens instances for them: so
// many under way at a time, the next when one has ended.
package load

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/instance"
)

// Role is who owns the states of the lifecycles, and Other who owns every second
// one where there are two.
const (
	Role  = "noop"
	Other = "other"
)

// Config says who works and who opens.
type Config struct {
	JetStream jetstream.JetStream
	Agent     *client.Client
	Opener    *client.Client
	Workers   int
	Hold      bool // work is begun and never ended
	Log       *slog.Logger
}

// Load is both. Make one with New.
type Load struct {
	Config

	mu    sync.Mutex
	ends  map[string]chan struct{} // by instance: closed when its last step was taken
	last  map[string]time.Time     // by instance: when its step before ended; nil while nobody asks
	gaps  []time.Duration          // from the end of a step to the start of the next
	begun []int64
	stops map[string]chan struct{} // by instance: closed when it may go on
	more  chan struct{}            // closed by the next beginning or stop
}

// New returns a Load.
func New(c Config) *Load {
	return &Load{Config: c, ends: map[string]chan struct{}{}, stops: map[string]chan struct{}{}, more: make(chan struct{})}
}

// Agents works for a role until ctx ends.
func (l *Load) Agents(ctx context.Context, role string) error {
	return agent.New(agent.Config{
		Role: role, Name: "load-" + strconv.FormatInt(time.Now().UnixNano(), 36), JetStream: l.JetStream, Client: l.Agent,
		Handler: l, Observer: l, Workers: l.Workers, Log: l.Log,
	}).Run(ctx)
}

// Order says what is to be done.
type Order struct {
	Workflow  string
	Prefix    string // of the instances' names, unique in a log
	Instances int
	Steps     int // of each
	Pause     int // the step that is held until Resume; 0 for none
	InFlight  int // instances at a time
	Watch     bool
}

// Result is how it was done.
type Result struct {
	Took time.Duration
	// Gaps are the times from the end of a step in the agent to the start of the
	// next one there, in order, if they were watched.
	Gaps []time.Duration
}

// Run takes instances to their ends.
func (l *Load) Run(ctx context.Context, o Order) (Result, error) {
	l.watch(o.Watch)
	start := time.Now()
	err := l.each(ctx, o, func(ctx context.Context, id string) error {
		end := l.expect(id)
		if err := l.open(ctx, o, id); err != nil {
			return err
		}
		select {
		case <-end:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	return Result{time.Since(start), l.watched()}, err
}

// Open opens instances.
func (l *Load) Open(ctx context.Context, o Order) error {
	return l.each(ctx, o, func(ctx context.Context, id string) error { return l.open(ctx, o, id) })
}

func (l *Load) each(ctx context.Context, o Order, f func(ctx context.Context, id string) error) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	next := make(chan int)
	var all sync.WaitGroup
	for range o.InFlight {
		all.Go(func() {
			for i := range next {
				if err := f(ctx, o.Prefix+"/"+strconv.Itoa(i)); err != nil {
					fail(err)
				}
			}
		})
	}
	for i := range o.Instances {
		next <- i
	}
	close(next)
	all.Wait()
	return context.Cause(ctx)
}

func (l *Load) open(ctx context.Context, o Order, id string) error {
	_, err := l.Opener.Open(ctx, "", o.Workflow, id, instance.Issue{Title: strconv.Itoa(o.Steps), Labels: o.labels()})
	if err != nil {
		return fmt.Errorf("open %s: %w", id, err)
	}
	return nil
}

// labels tell the agents what else is wanted of them.
func (o Order) labels() []string {
	if o.Pause == 0 {
		return nil
	}
	return []string{strconv.Itoa(o.Pause)}
}
