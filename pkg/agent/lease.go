package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// errLost ends a handler's context when its claim is no longer its own.
var errLost = errors.New("the claim is lost")

// keep returns a context that lives as long as the claim does, which so far is
// at least until the given time. A third of the lease after each other,
// heartbeats extend it, first in the log, then at the server that would deliver
// the work again. stop ends the context and waits.
func (a *Agent) keep(ctx context.Context, msg jetstream.Msg, job Job, until time.Time) (leased context.Context, stop func()) {
	leased, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		beat := time.NewTicker(a.lease / 3)
		defer beat.Stop()
		for {
			select {
			case <-leased.Done():
				return
			case <-beat.C:
			}
			// What counts is when it is decided, which is not before it is sent.
			sent := time.Now()
			err := a.beat(leased, job, until)
			switch {
			case err == nil:
				until = sent.Add(a.lease)
				a.settle(msg.InProgress(), msg)
			case leased.Err() != nil:
				return
			case errors.As(err, new(*instance.Refusal)), time.Now().After(until):
				cancel(fmt.Errorf("%w: %w", errLost, err))
				return
			}
		}
	}()
	return leased, func() { cancel(context.Canceled); <-done }
}

// beat extends the lease; it looks for an orchestrator as long as the lease lasts.
func (a *Agent) beat(ctx context.Context, job Job, until time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return a.command(ctx, job, subject.Heartbeat, &pb.Command{Action: &pb.Command_Heartbeat{
		Heartbeat: &pb.Heartbeat{Token: uint32(job.Token), LeaseMs: uint32(a.lease.Milliseconds())}}})
}
