package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// maxDirectWait limits how long a claim sent with a report waits for direct work.
// After it the worker takes from the queue again.
const maxDirectWait = 500 * time.Millisecond

// replyMargin is added to maxDirectWait for the reply's way. A killed
// orchestrator never replies.
const replyMargin = time.Second

// worker does one piece of work after the other. Its fields belong to the
// goroutine of run.
type worker struct {
	*Agent
	claiming   context.Context     // of claims and releases; ends shutdownGrace after the agent's
	working    context.Context     // of handlers; ends the agent's grace after the agent's
	background *sync.WaitGroup     // waited for before the agent ends
	pending    client.PendingClaim // sent with the last report
	askedAt    time.Time           // when pending was sent
}

// run works until ctx ends. Direct work comes before the queue.
func (a *worker) run(ctx context.Context, q *queue) {
	for {
		if reply := a.nextClaim(); reply != nil {
			a.runDirect(ctx, reply)
			continue
		}
		msg, ok := q.receive(ctx)
		if !ok {
			return
		}
		a.handle(ctx, delivery{msg})
	}
}

// runDirect does work that came with its claim. It has no message to acknowledge:
// if it is neither reported nor released, its lease expires and an orchestrator
// dispatches it to the queue.
func (a *worker) runDirect(ctx context.Context, reply *pb.CommandReply) {
	job, until := a.job(reply), a.askedAt.Add(a.lease)
	if ctx.Err() != nil {
		_ = a.giveBack(a.claiming, job, subject.Release, stopping) // logged there
		return
	}
	_ = a.execute(ctx, delivery{}, job, until) // without a message there is no error
}

// nextClaim waits for the claim that was sent with the last report. It returns
// nil if there is none, or if it got no work.
func (a *worker) nextClaim() *pb.CommandReply {
	next := a.pending
	a.pending = client.PendingClaim{}
	ctx, cancel := context.WithDeadline(a.claiming, a.askedAt.Add(maxDirectWait+replyMargin))
	defer cancel()
	reply, err := next.Wait(ctx)
	if err != nil && ctx.Err() != nil {
		a.background.Go(func() { a.abandon(next) })
		return nil
	}
	if errors.Is(err, &instance.Refusal{Code: instance.CodeInvalid}) { // an older orchestrator
		a.queueOnly.Store(true)
	}
	return reply
}

// abandon releases the work of a claim whose reply comes too late.
func (a *worker) abandon(claim client.PendingClaim) {
	if reply, _ := claim.Wait(a.claiming); reply != nil { // after an error there is nothing to release
		_ = a.giveBack(a.claiming, a.job(reply), subject.Release, "the answer came too late") // logged there
	}
}

// report sends a result. If more is set it sends a waiting claim in the same
// message; nextClaim returns what that gets.
func (a *worker) report(ctx context.Context, job Job, report *pb.Report, more bool) error {
	cmd := &pb.Command{Instance: job.Instance, Actor: a.Name, Action: &pb.Command_Report{Report: report}}
	if !more || a.queueOnly.Load() {
		_, err := a.Client.DoAs(ctx, a.Role, subject.Report, cmd)
		return err
	}
	a.askedAt = time.Now()
	var err error
	_, a.pending, err = a.Client.DoAsWithClaim(ctx, a.Role, subject.Report, cmd, &pb.Command{Actor: a.Name, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: a.Name, Program: a.Program, LeaseMs: uint32(a.lease.Milliseconds()), WaitMs: uint32(min(maxDirectWait, a.lease/4).Milliseconds())}}})
	return err
}
