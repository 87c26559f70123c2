package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// errLost ends a handler's context when its claim is no longer its own.
var errLost = errors.New("the claim is lost")

// claim is one of an agent that is at work, whose lease is kept alive: a third
// of it after each other, heartbeats extend it, first in the log, then at the
// server that would deliver the work again. Work that is done before the first of
// them costs a timer that never rings.
type claim struct {
	agent  *Agent
	job    Job
	msg    delivery
	leased context.Context
	lose   context.CancelCauseFunc

	mu    sync.Mutex // held while it beats
	until time.Time
	timer *time.Timer
	over  bool
}

// keep returns a context that lives as long as the claim does, which so far is
// at least until the given time. stop ends the context and waits.
func (a *Agent) keep(ctx context.Context, msg delivery, job Job, until time.Time) (leased context.Context, stop func()) {
	c := &claim{agent: a, job: job, msg: msg, until: until}
	c.leased, c.lose = context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(a.lease/3, c.beat)
	return c.leased, c.stop
}

func (c *claim) beat() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || c.leased.Err() != nil {
		return
	}
	// What counts is when it is decided, which is not before it is sent.
	sent := time.Now()
	err := c.agent.beat(c.leased, c.job, c.until)
	switch {
	case err == nil:
		c.until = sent.Add(c.agent.lease)
		c.agent.settle(c.msg.progress(), c.msg)
	case c.leased.Err() != nil:
		return
	case errors.As(err, new(*instance.Refusal)), time.Now().After(c.until):
		c.lose(fmt.Errorf("%w: %w", errLost, err))
		return
	}
	c.timer.Reset(c.agent.lease/3 - time.Since(sent))
}

func (c *claim) stop() {
	c.lose(context.Canceled) // first: a heartbeat under way ends with it
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.timer.Stop()
}

// beat extends the lease; it looks for an orchestrator as long as the lease lasts.
func (a *Agent) beat(ctx context.Context, job Job, until time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return a.command(ctx, job, subject.Heartbeat, &pb.Command{Action: &pb.Command_Heartbeat{
		Heartbeat: &pb.Heartbeat{Token: uint32(job.Token), LeaseMs: uint32(a.lease.Milliseconds())}}})
}
