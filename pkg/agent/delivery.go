package agent

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// deliver takes one message from its arrival to its acknowledgement. Whatever
// goes wrong on the way, the message stays unacknowledged and comes again.
func (a *worker) deliver(ctx context.Context, msg delivery) {
	meta, err := msg.Metadata()
	if err != nil {
		a.settle(msg.term("not a stream message"), msg)
		return
	}
	work, err := subject.ParseEvent(msg.Subject)
	if err != nil {
		a.settle(msg.term(err.Error()), msg)
		return
	}
	if ctx.Err() != nil {
		a.settle(msg.nak(0), msg)
		return
	}
	sent := time.Now()
	reply, err := a.Client.DoAs(a.claiming, a.Role, subject.Claim, &pb.Command{Instance: work.Instance, Actor: a.Name, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: a.Name, Work: meta.Sequence.Stream, LeaseMs: uint32(a.lease.Milliseconds())}}})
	if err != nil {
		a.settle(a.refused(msg, reply, err), msg)
		return
	}
	a.settle(a.do(ctx, msg, a.job(reply), sent.Add(a.lease)), msg)
}

// refused ends a delivery whose claim was refused. Work that is past is
// acknowledged and gone; work that another holds comes again when that lease
// may have run out, and what cannot be claimed for another reason comes again
// until it is a dead letter.
func (a *Agent) refused(msg delivery, reply *pb.CommandReply, err error) error {
	no := new(instance.Refusal)
	errors.As(err, &no)
	switch no.Code {
	case instance.CodeStale, instance.CodeNotOwner, instance.CodePaused, instance.CodeClosed, instance.CodeUnknownInstance:
		a.Log.Debug("work is past", "instance", no.Instance, "reason", no.What)
		return msg.ack()
	case instance.CodeHeld:
		a.Log.Debug("held by another", "instance", no.Instance, "reason", no.What)
		return msg.nak(a.untilFree(reply))
	}
	a.Log.Warn("cannot claim work; trying again", "subject", msg.Subject, "error", err)
	return msg.nak(a.lease / 4)
}

// untilFree is when work that is held may be free. The lease runs by another's
// clock, so what counts is how much was left of it, not when it ends.
func (a *Agent) untilFree(reply *pb.CommandReply) time.Duration {
	const after = 10 * time.Millisecond
	if reply.GetLeaseLeft() == nil { // an orchestrator of before does not say
		return a.lease / 4
	}
	return min(reply.GetLeaseLeft().AsDuration()+after, a.lease)
}

// settle logs an acknowledgement that did not go out: the server will deliver
// the message again, and the claim of it will be refused.
func (a *Agent) settle(err error, msg delivery) {
	if err != nil {
		a.Log.Warn("acknowledgement lost", "subject", msg.Subject, "error", err)
	}
}

// do runs the handler under a lease that is kept alive, reports, and settles
// the message.
func (a *worker) do(ctx context.Context, msg delivery, job Job, until time.Time) error {
	start := time.Now()
	a.Observer.Started(job)
	leased, stop := a.keep(ctx, msg, job, until)
	result, err := a.Handler.Work(leased, job)
	lost := context.Cause(leased)
	stop()
	took := time.Since(start)

	// From here on the work is done: what follows must not be cut short by the
	// stop that ended it.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.lease)
	defer cancel()
	switch {
	case errors.Is(lost, errLost):
		a.Log.Warn("claim lost; the result is dropped", "instance", job.Instance, "state", job.State, "error", lost)
		a.Observer.Ended(job, instance.Result{}, lost, took)
		return msg.nak(a.lease / 4)
	case ctx.Err() != nil && err != nil && !Pleads(err):
		a.Observer.Ended(job, instance.Result{}, err, took)
		if a.giveBack(after, job, subject.Release, "the agent is stopping") != nil {
			return msg.nak(0)
		}
		return msg.ack() // released work is dispatched anew
	case errors.Is(err, brain.ErrInfrastructure):
		a.Log.Warn("infrastructure fault; the work is tried again", "instance", job.Instance, "state", job.State, "error", err)
		a.Observer.Ended(job, instance.Result{}, err, took)
		_ = a.giveBack(after, job, subject.Fail, err.Error()) // it has logged its error, and the delay covers it
		return msg.nak(delay(msg))
	}
	if result.Spend.WallMS == 0 {
		result.Spend.WallMS = took.Milliseconds()
	}
	if Pleads(err) {
		over, left := a.plead(after, job, &result, err)
		switch {
		case over:
			a.Observer.Ended(job, instance.Result{}, err, took)
			return msg.ack() // whoever was asked has the work
		case gone(left):
			return a.drop(msg, job, left, took)
		}
		err = left
	}
	if err != nil {
		result.Status, result.Summary = instance.Failure, err.Error()
		if result.FailureSignature == "" {
			result.FailureSignature = signature(err)
		}
	}
	return a.report(after, msg, job, result, err, took, ctx.Err() == nil)
}

// report sends the result, asks for more work with it, and settles the message by
// the answer.
func (a *worker) report(ctx context.Context, msg delivery, job Job, result instance.Result, failed error, took time.Duration, more bool) error {
	err := a.tell(ctx, job, &pb.Report{Token: uint32(job.Token), Result: wire.Result(result)}, more)
	if err == nil {
		a.Observer.Ended(job, result, failed, took)
		return msg.ack()
	}
	if gone(err) {
		return a.drop(msg, job, errors.Join(failed, err), took)
	}
	// The result as it is will never be taken: another try may have a better one,
	// and faults are counted.
	a.Log.Error("result refused", "instance", job.Instance, "state", job.State, "error", err)
	a.Observer.Ended(job, instance.Result{}, errors.Join(failed, err), took)
	_ = a.giveBack(ctx, job, subject.Fail, "the result cannot be taken: "+err.Error())
	return msg.nak(delay(msg))
}

// gone reports whether nobody answers, or the claim is not ours any more.
func gone(err error) bool {
	no := new(instance.Refusal)
	return errors.Is(err, client.ErrUnavailable) || errors.As(err, &no) && no.Code != instance.CodeUndecided && no.Code != instance.CodeInvalid
}

// drop gives up what the work came to: whoever takes the message next finds out
// how things stand.
func (a *Agent) drop(msg delivery, job Job, err error, took time.Duration) error {
	a.Log.Warn("result not taken", "instance", job.Instance, "state", job.State, "error", err)
	a.Observer.Ended(job, instance.Result{}, err, took)
	return msg.nak(0)
}

// parting is how long a claim under way is waited for once the agent is stopped.
const parting = 5 * time.Second

// outlive returns a context that ends d after ctx does.
func outlive(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		pause(longer, d)
		cancel()
	})
	return longer, func() { stop(); cancel() }
}

// giveBack ends the claim without a result. If it fails, the lease runs out.
func (a *Agent) giveBack(ctx context.Context, job Job, how, reason string) error {
	cmd := &pb.Command{Action: &pb.Command_Release{Release: &pb.Release{Token: uint32(job.Token), Reason: reason}}}
	if how == subject.Fail {
		cmd.Action = &pb.Command_Fail{Fail: &pb.Fail{Token: uint32(job.Token), Reason: reason}}
	}
	err := a.command(ctx, job, how, cmd)
	if err != nil {
		a.Log.Warn("claim not given back; its lease runs out", "instance", job.Instance, "state", job.State, "error", err)
		return err
	}
	a.Log.Info("claim given back", "instance", job.Instance, "state", job.State, "reason", reason)
	return nil
}

// delay spaces out tries after infrastructure faults: 1, 4, 16, 60 seconds. A
// policy of five faults then outlasts an outage of a minute.
func delay(msg delivery) time.Duration {
	if msg.Msg == nil { // the orchestrator knows how long it rests
		return 0
	}
	meta, err := msg.Metadata()
	if err != nil {
		return time.Second
	}
	return min(time.Second<<(2*min(meta.NumDelivered-1, 3)), time.Minute)
}
