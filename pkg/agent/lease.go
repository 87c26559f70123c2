package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// errLost is the cause of the end of a handler's context if the claim was lost.
var errLost = errors.New("the claim is lost")

// patience is for how many leases an agent goes on without an answer to its heartbeats. The
// first orchestrator that runs again prolongs the lease, if no other agent has the work.
const patience = 5

// claim keeps the lease of one claim alive while the handler works. Every third of
// the lease a heartbeat extends it, first in the log, then the message's ack wait
// at the server. While no orchestrator answers, it extends the ack wait alone.
type claim struct {
	agent  *Agent
	job    Job
	msg    delivery
	leased context.Context // the handler's; ends with the claim
	cancel context.CancelCauseFunc

	mu      sync.Mutex // held for the whole of a heartbeat
	until   time.Time  // without an answer to a heartbeat the claim is lost then
	timer   *time.Timer
	stopped bool
}

// keepAlive returns a context that ends when the claim is lost, with cause
// errLost. until is when the lease expires at the earliest. stop ends the context
// and waits for a heartbeat under way. It may be called more than once.
func (a *Agent) keepAlive(ctx context.Context, msg delivery, job Job, until time.Time) (leased context.Context, stop func()) {
	c := &claim{agent: a, job: job, msg: msg, until: until.Add((patience - 1) * a.lease)}
	c.leased, c.cancel = context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(a.lease/3, c.heartbeat)
	return c.leased, c.stop
}

// heartbeat runs in the timer's goroutine. It loses the claim if the orchestrator
// refuses the heartbeat, or if there is no reply for patience leases.
func (c *claim) heartbeat() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || c.leased.Err() != nil {
		return
	}
	sent := time.Now() // the new lease begins when it is decided, which is not earlier
	err := c.agent.extendLease(c.leased, c.job)
	switch {
	case err == nil:
		c.until = sent.Add(patience * c.agent.lease)
	case c.leased.Err() != nil:
		return
	case errors.As(err, new(*instance.Refusal)), time.Now().After(c.until):
		c.cancel(fmt.Errorf("%w: %w", errLost, err))
		return
	}
	c.agent.logLostAck(c.msg.inProgress(), c.msg)
	c.timer.Reset(c.agent.lease/3 - time.Since(sent))
}

func (c *claim) stop() {
	c.cancel(context.Canceled) // before the lock: it ends a heartbeat under way
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	c.timer.Stop()
}

// extendLease sends one heartbeat. It tries for a third of a lease.
func (a *Agent) extendLease(ctx context.Context, job Job) error {
	ctx, cancel := context.WithTimeout(ctx, a.lease/3)
	defer cancel()
	return a.command(ctx, job, subject.Heartbeat, &pb.Command{Action: &pb.Command_Heartbeat{
		Heartbeat: &pb.Heartbeat{Token: uint32(job.Token), LeaseMs: uint32(a.lease.Milliseconds())}}})
}
