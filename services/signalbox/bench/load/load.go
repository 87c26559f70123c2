// Package load runs agents that do nothing, and opens instances for them: a number at a
// time, the next when one has ended.
package load

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/services/signalbox/bench/parallel"
)

// Role owns the states of the lifecycles. Other owns every second one in the lifecycle
// relay.
const (
	Role  = "noop"
	Other = "other"
)

// Config configures a Load.
type Config struct {
	JetStream jetstream.JetStream
	Agent     *client.Client
	Opener    *client.Client
	Workers   int
	Log       *slog.Logger
}

// Load is the agents and the opener. Create one with New.
type Load struct {
	Config

	mu      sync.Mutex
	ends    map[string]chan struct{} // by instance: closed when it has ended
	last    map[string]time.Time     // by instance: when the step before ended; nil: not watched
	gaps    []time.Duration          // from the end of a step to the start of the next one
	stops   map[string]chan struct{} // of held instances: closed to resume it
	changed chan struct{}            // closed by the next stop
	endless string                   // an instance that went on after its last step
}

// New returns a Load.
func New(c Config) *Load {
	return &Load{Config: c, ends: map[string]chan struct{}{}, stops: map[string]chan struct{}{}, changed: make(chan struct{})}
}

// Agents runs agents of a role until ctx ends.
func (l *Load) Agents(ctx context.Context, role string) error {
	return agent.New(agent.Config{
		Role: role, Name: "load-" + strconv.FormatInt(time.Now().UnixNano(), 36), JetStream: l.JetStream, Client: l.Agent,
		Handler: l, Observer: l, Workers: l.Workers, Log: l.Log,
	}).Run(ctx)
}

// Order selects the instances to run.
type Order struct {
	Workflow  string
	Prefix    string // of the instances' names, unique in a log
	Instances int
	Steps     int  // of each
	Pause     int  // the step that is held until Resume; 0: none
	InFlight  int  // instances at a time
	Watch     bool // record hand-offs
}

// Result is the result of an order.
type Result struct {
	Took time.Duration
	// Gaps are the hand-offs in order, if they were watched. Each is the time from the end
	// of a step in an agent to the start of the next one.
	Gaps []time.Duration
}

// Run opens the instances of an order and waits for their ends.
func (l *Load) Run(ctx context.Context, o Order) (Result, error) {
	l.watch(o.Watch)
	start := time.Now()
	err := l.each(ctx, o, func(ctx context.Context, id string) error {
		end := l.endOf(id)
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
	return Result{time.Since(start), l.watched()}, errors.Join(err, l.ended())
}

// ended returns an error if an instance went on after its last step.
func (l *Load) ended() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.endless != "" {
		return fmt.Errorf("%s goes on after its last step: the lifecycle needs a rule for result.next == 'done'", l.endless)
	}
	return nil
}

// Open opens the instances of an order.
func (l *Load) Open(ctx context.Context, o Order) error {
	return l.each(ctx, o, func(ctx context.Context, id string) error { return l.open(ctx, o, id) })
}

// each calls f for each instance of an order.
func (l *Load) each(ctx context.Context, o Order, f func(ctx context.Context, id string) error) error {
	return parallel.Do(ctx, o.Instances, o.InFlight, func(ctx context.Context, i int) error {
		return f(ctx, o.Prefix+"/"+strconv.Itoa(i))
	})
}

func (l *Load) open(ctx context.Context, o Order, id string) error {
	_, err := l.Opener.Open(ctx, "", o.Workflow, id, instance.Issue{Title: strconv.Itoa(o.Steps), Labels: o.labels()})
	if err != nil {
		return fmt.Errorf("open %s: %w", id, err)
	}
	return nil
}

// labels returns the step to hold, for the agents.
func (o Order) labels() []string {
	if o.Pause == 0 {
		return nil
	}
	return []string{strconv.Itoa(o.Pause)}
}
