// Package agent is the runtime a role is built on: take work as it is pushed,
// claim it, let the handler do it under a lease kept alive, report, and only
// then acknowledge. Killed at any moment, it loses nothing: the work comes back.
package agent

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
)

// Handler does a role's work.
type Handler interface {
	// Work returns the result to report. An error wrapping
	// brain.ErrInfrastructure gives the work back without spending an attempt; an
	// *Asking or an *Escalating asks others; any other error is reported as a
	// failure. Work returns soon after ctx ends.
	Work(ctx context.Context, job Job) (instance.Result, error)
}

// Job is one claimed piece of work.
type Job struct {
	brain.Assignment
	Bundles []instance.Bundle // the work's commits so far, oldest first
	Token   uint64
	// Progress tells people what is being done right now; it is not recorded.
	Progress func(format string, args ...any)
	// Note keeps a remark with the instance, whatever comes of the work; the same
	// one is kept once.
	Note func(ctx context.Context, kind, text string) error
}

// Config is what an Agent is made of.
type Config struct {
	Role      string
	Name      string // unique among the running agents
	JetStream jetstream.JetStream
	Client    *client.Client
	Handler   Handler
	Workers   int // pieces of work at a time; 0 is one
	Log       *slog.Logger
	Observer  Observer // may be nil
}

// Observer is told what an agent does, as it happens.
type Observer interface {
	Started(job Job)
	Progressed(job Job, text string)
	Ended(job Job, r instance.Result, err error, took time.Duration)
}

// Agent works for one role until its context ends.
type Agent struct {
	Config
	lease time.Duration // of a claim: the consumer's ack wait
	queue atomic.Bool   // work comes from it only: nobody takes claims that wait
}

// New returns an agent.
func New(c Config) *Agent {
	if c.Observer == nil {
		c.Observer = silent{}
	}
	return &Agent{Config: c}
}

// Run works until ctx ends; then it takes no new work, gives a piece under way
// as long as the handler needs to notice, releases it if it is not done, and
// returns.
func (a *Agent) Run(ctx context.Context) error {
	consumer, err := a.bind(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	a.lease = consumer.CachedInfo().Config.AckWait
	n := max(1, a.Workers)
	q, err := newQueue(a.JetStream, a.Role, n, a.Log)
	if err != nil {
		return err
	}
	// A claim under way when the agent is stopped may be made all the same: only
	// its answer tells, and gives the token to release it with.
	claiming, cancel := outlive(ctx, parting)
	defer cancel()
	a.Log.Info("taking work", "role", a.Role, "lease", a.lease)
	var workers sync.WaitGroup
	for range n {
		workers.Go(func() {
			(&worker{Agent: a, claiming: claiming, all: &workers}).run(ctx, q)
		})
	}
	look := time.NewTicker(pulse)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			q.look()
			continue
		case <-ctx.Done():
		}
		break
	}
	q.stop()
	workers.Wait()
	return nil
}

// bind waits for the role's consumer: the orchestrator makes it.
func (a *Agent) bind(ctx context.Context) (jetstream.Consumer, error) {
	return backoff.Retry(ctx, func() (jetstream.Consumer, error) {
		c, err := a.JetStream.Consumer(ctx, subject.EventStream, a.Role)
		if err != nil {
			a.Log.Debug("no work queue yet", "role", a.Role, "error", err)
		}
		return c, err
	}, backoff.WithBackOff(pace()), backoff.WithMaxElapsedTime(0))
}

// pace spaces out tries after an error: from 50 ms to 5 s.
func pace() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = 50*time.Millisecond, 5*time.Second
	return b
}

// pause waits for d or for ctx to end.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

type silent struct{}

func (silent) Started(Job)                                      {}
func (silent) Progressed(Job, string)                           {}
func (silent) Ended(Job, instance.Result, error, time.Duration) {}
