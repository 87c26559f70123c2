// Package agent is the runtime a role is built on. It receives work from the role's queue,
// claims it, and runs the handler while heartbeats keep the lease alive. It reports the
// result and only then acknowledges the message. If the process is killed at any moment,
// the work is delivered again.
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
	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Handler does a role's work.
type Handler interface {
	// Work returns the result to report. An error wrapping
	// brain.ErrInfrastructure gives the work back without spending an attempt. An
	// *ErrAsk or an *ErrEscalate asks others, an *ErrGiveBack gives the work back
	// unfinished. Any other error is reported as a failure. Work must return soon after
	// ctx ends.
	Work(ctx context.Context, job Job) (instance.Result, error)
}

// Job is one claimed piece of work.
type Job struct {
	brain.Assignment
	Bundles []instance.Bundle // the work's commits so far, oldest first
	Writers []string          // the roles that write the code; empty: the orchestrator does not say
	Testers []string          // the roles that write the tests
	Checks  []string          // the checks that the work of some state runs; empty: the orchestrator does not say
	Token   uint64
	Faults  int            // that the work came back because of in this state, and whose end was not known
	Spent   instance.Cost  // by the instance so far
	Raised  instance.Raise // of its budget, by people
	// Progress shows people the present step. It is not recorded.
	Progress func(format string, args ...any)
	// Printed shows people what a brain prints, while they look. It is not recorded. Nil: nobody is shown it.
	Printed func(text string)
	// Note records a note with the instance, whether or not the work succeeds. A
	// note with the same kind and text is recorded once.
	Note func(ctx context.Context, kind, text string) error
	// Steps returns the steps of the instance that have ended, oldest first.
	Steps func(ctx context.Context) ([]work.PastStep, error)
	// Learnings returns what was learned of the repository so far, as learning.Book lists it.
	// It is nil if there is no repository, and so are Learned and Used.
	Learnings func(ctx context.Context) ([]learning.Learning, error)
	// Learned notes what was learned of a file or directory or, without a path, of the
	// repository. The error of one that is refused is an *instance.Refusal.
	Learned func(ctx context.Context, path, text string) error
	// Used notes which learnings a prompt has.
	Used func(ctx context.Context, ids []string) error
	// Shares returns what the instance's costs so far were for. Nil: that is not known.
	Shares func(ctx context.Context) ([]work.Share, error)
	// Spend records a cost under the claim at once, whatever comes of the work.
	Spend func(ctx context.Context, cost instance.Cost) error
	// Affordable ends, with a brain.SpentError as its cause, when the orchestrator says that
	// nothing more may be spent on the work today. Nil: that is not watched.
	Affordable context.Context

	spent context.CancelCauseFunc // ends Affordable
	live  *live                   // nil: no output is shown
}

// Overspent returns the cause of the end of Affordable, or nil.
func (j Job) Overspent() error {
	if j.Affordable == nil {
		return nil
	}
	return context.Cause(j.Affordable)
}

// Config configures an Agent.
type Config struct {
	Role      string
	Name      string // unique among the running agents
	Program   string // version of the running program, for the log
	JetStream jetstream.JetStream
	Client    *client.Client
	Handler   Handler
	Workers   int           // pieces of work at a time; 0 means one
	Grace     time.Duration // how long work under way may take to end once Run's context has
	Log       *slog.Logger
	Observer  Observer // may be nil
	// Secrets finds the credentials that are taken out of what is recorded; nil: none are.
	Secrets *secret.Scanner
}

// Observer is called as an agent works, from the goroutines of its workers.
type Observer interface {
	Started(job Job)
	Progressed(job Job, text string)
	Ended(job Job, r instance.Result, err error, took time.Duration)
}

// Agent works for one role until its context ends.
type Agent struct {
	Config
	lease     time.Duration // of a claim: the consumer's ack wait
	queueOnly atomic.Bool   // the orchestrator refuses claims that wait
	redact    redactor
}

// New returns an agent.
func New(c Config) *Agent {
	if c.Observer == nil {
		c.Observer = noObserver{}
	}
	return &Agent{Config: c, redact: redactor{c.Secrets}}
}

// Run works until ctx ends. Then it takes no new work, lets the handlers end their work
// within Grace, releases the work that is not done by then, and returns.
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
	// A claim that is under way when the agent stops may succeed. Its reply has the
	// token to release it with.
	claiming, cancel := withGrace(ctx, shutdownGrace)
	defer cancel()
	working, cancelWork := withGrace(ctx, a.Grace)
	defer cancelWork()
	a.Log.Info("taking work", "role", a.Role, "lease", a.lease)
	var workers sync.WaitGroup
	for range n {
		workers.Go(func() {
			q := newQueue(a.JetStream, a.Role, a.Log)
			(&worker{Agent: a, claiming: claiming, working: working, background: &workers}).run(ctx, q)
			q.stop()
		})
	}
	workers.Wait()
	return nil
}

// bind waits for the role's consumer, which the orchestrator creates.
func (a *Agent) bind(ctx context.Context) (jetstream.Consumer, error) {
	return backoff.Retry(ctx, func() (jetstream.Consumer, error) {
		c, err := a.JetStream.Consumer(ctx, subject.EventStream, a.Role)
		if err != nil {
			a.Log.Debug("no work queue yet", "role", a.Role, "error", err)
		}
		return c, err
	}, backoff.WithBackOff(newBackOff()), backoff.WithMaxElapsedTime(0))
}

// newBackOff returns the pauses between tries to get work.
func newBackOff() *backoff.ExponentialBackOff {
	return pacing.Backoff(50*time.Millisecond, 5*time.Second)
}

type noObserver struct{}

func (noObserver) Started(Job)                                      {}
func (noObserver) Progressed(Job, string)                           {}
func (noObserver) Ended(Job, instance.Result, error, time.Duration) {}
