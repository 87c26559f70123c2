package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// longest is for how long a worker that has reported waits at most for work that
// is made just then, which it is given directly, before it goes to the queue.
const longest = 500 * time.Millisecond

// overdue is how much later the answer may come: that of an orchestrator that was
// killed never does.
const overdue = time.Second

// worker does one piece of work after the other.
type worker struct {
	*Agent
	claiming context.Context     // ends a little after the agent's
	all      *sync.WaitGroup     // what ends before the agent does
	next     client.PendingClaim // for more work, since the last report
	asked    time.Time           // when that was sent
}

// run works until ctx ends.
func (a *worker) run(ctx context.Context, q *queue) {
	for {
		if reply := a.more(); reply != nil {
			a.direct(ctx, reply)
			continue
		}
		msg, ok := q.receive(ctx)
		if !ok {
			return
		}
		a.deliver(ctx, delivery{msg})
	}
}

// direct does work that came with its claim. No queue has it: if it is not
// reported or given back its lease runs out, and then it goes to the queue.
func (a *worker) direct(ctx context.Context, reply *pb.CommandReply) {
	job, until := a.job(reply), a.asked.Add(a.lease)
	if ctx.Err() != nil {
		_ = a.giveBack(a.claiming, job, subject.Release, "the agent is stopping") // it has logged its error
		return
	}
	_ = a.do(ctx, delivery{}, job, until) // there is nothing to acknowledge
}

// more returns the work that the last report asked for, or nil if none came.
func (a *worker) more() *pb.CommandReply {
	next := a.next
	a.next = client.PendingClaim{}
	ctx, cancel := context.WithDeadline(a.claiming, a.asked.Add(longest+overdue))
	defer cancel()
	reply, err := next.Wait(ctx)
	if err != nil && ctx.Err() != nil {
		a.all.Go(func() { a.giveUp(next) })
		return nil
	}
	if errors.Is(err, &instance.Refusal{Code: instance.CodeInvalid}) { // by an orchestrator of before
		a.queue.Store(true)
	}
	return reply
}

// giveUp gives back what a claim was given that nobody waits for any more.
func (a *worker) giveUp(claim client.PendingClaim) {
	if reply, _ := claim.Wait(a.claiming); reply != nil { // an error is none to wait for either
		_ = a.giveBack(a.claiming, a.job(reply), subject.Release, "the answer came too late")
	}
}

// tell sends a result and, if more is wanted, a claim of work that comes of it or
// of what others report at the same time.
func (a *worker) tell(ctx context.Context, job Job, report *pb.Report, more bool) error {
	cmd := &pb.Command{Instance: job.Instance, Actor: a.Name, Action: &pb.Command_Report{Report: report}}
	if !more || a.queue.Load() {
		_, err := a.Client.DoAs(ctx, a.Role, subject.Report, cmd)
		return err
	}
	a.asked = time.Now()
	var err error
	_, a.next, err = a.Client.DoAsWithClaim(ctx, a.Role, subject.Report, cmd, &pb.Command{Actor: a.Name, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: a.Name, LeaseMs: uint32(a.lease.Milliseconds()), WaitMs: uint32(min(longest, a.lease/4).Milliseconds())}}})
	return err
}
