package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// handle claims the work of one message, does it and acknowledges the message.
// On any error the message is not acknowledged, and is delivered again.
func (a *worker) handle(ctx context.Context, msg delivery) {
	meta, err := msg.msg.Metadata()
	if err != nil {
		a.logLostAck(msg.term("not a stream message"), msg)
		return
	}
	work, err := subject.ParseEvent(msg.subject())
	if err != nil {
		a.logLostAck(msg.term(err.Error()), msg)
		return
	}
	if ctx.Err() != nil {
		a.logLostAck(msg.nak(0), msg)
		return
	}
	sent := time.Now()
	reply, err := a.Client.DoAs(a.claiming, a.Role, subject.Claim,
		&pb.Command{Instance: work.Instance, Actor: a.Name, Action: &pb.Command_Claim{
			Claim: &pb.Claim{Agent: a.Name, Program: a.Program, Work: meta.Sequence.Stream, LeaseMs: uint32(a.lease.Milliseconds())}}})
	if err != nil {
		a.logLostAck(a.claimRefused(msg, reply, err), msg)
		return
	}
	a.logLostAck(a.execute(ctx, msg, a.job(reply), sent.Add(a.lease)), msg)
}

// claimRefused acknowledges work that is past. Work that another agent holds is
// delivered again when that lease may have expired. After any other error it is
// delivered again until it is a dead letter.
func (a *Agent) claimRefused(msg delivery, reply *pb.CommandReply, err error) error {
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
	a.Log.Warn("cannot claim work; trying again", "subject", msg.subject(), "error", err)
	return msg.nak(a.lease / 4)
}

// untilFree returns after how long held work may be free. The orchestrator sends
// the time left of the lease, since its clock may differ from this one.
func (a *Agent) untilFree(reply *pb.CommandReply) time.Duration {
	const after = 10 * time.Millisecond
	if reply.GetLeaseLeft() == nil { // an older orchestrator
		return a.lease / 4
	}
	return min(reply.GetLeaseLeft().AsDuration()+after, a.lease)
}

// logLostAck logs an acknowledgement that was not sent. The server delivers the
// message again, and the claim of it is refused.
func (a *Agent) logLostAck(err error, msg delivery) {
	if err != nil {
		a.Log.Warn("acknowledgement lost", "subject", msg.subject(), "error", err)
	}
}

// execute runs the handler under a lease that is kept alive until the given time
// or longer, reports the result and acknowledges the message. Its error is that of
// the acknowledgement. The lease is kept alive until the report is answered: that may
// take until an orchestrator runs again.
func (a *worker) execute(ctx context.Context, msg delivery, job Job, until time.Time) error {
	start := time.Now()
	a.Observer.Started(job)
	job.live.show(func() (stop func()) { return a.serveLive(job) })
	defer job.live.hide()
	leased, stop := a.keepAlive(a.working, msg, job, until)
	defer stop()
	holder := client.Holder{Role: a.Role, Agent: a.Name, Instance: job.Instance, Token: uint32(job.Token)}
	result, err := a.Handler.Work(WithHolder(leased, holder), job)
	result = a.redact.result(result)
	took := time.Since(start)
	acknowledge := a.conclude(ctx, leased, msg, job, result, err, took)
	stop()
	return acknowledge()
}

// serveLive answers people who ask for the output of the work. The caller must call stop.
func (a *Agent) serveLive(job Job) (stop func()) {
	stop, err := a.Client.ServeLive(a.Role, job.Token, job.Instance, job.live.newest)
	if err != nil {
		a.Log.Warn("nobody can look at the output of this work while it is under way", "instance", job.Instance, "error", err)
	}
	return stop
}

// conclude sends the orchestrator how the work ended, and returns what acknowledges the
// message.
func (a *worker) conclude(ctx, leased context.Context, msg delivery, job Job, result instance.Result, err error, took time.Duration) (acknowledge func() error) {
	nak := func(delay time.Duration) func() error { return func() error { return msg.nak(delay) } }
	lost := context.Cause(leased)
	// The work is done. The stop that may have ended it must not interrupt the report.
	graced, end := withGrace(ctx, a.lease)
	defer end()
	after, cancel := context.WithTimeout(graced, patience*a.lease)
	defer cancel()
	switch {
	case errors.Is(lost, errLost):
		a.logStep(slog.LevelWarn, "claim lost; the result is dropped", job, "lost", took, lost)
		a.Observer.Ended(job, instance.Result{}, lost, took)
		return nak(a.lease / 4)
	case a.working.Err() != nil && err != nil && !NeedsOthers(err):
		a.Observer.Ended(job, instance.Result{}, err, took)
		a.spend(after, job, &result)
		if a.giveBack(after, job, subject.Release, stopping) != nil {
			return nak(0)
		}
		a.logStep(slog.LevelInfo, "claim given back", job, "released", took, errors.New(stopping))
		return msg.ack // released work is dispatched again
	case errors.Is(err, brain.ErrInfrastructure):
		a.logStep(slog.LevelWarn, "infrastructure fault; the work is tried again", job, "fault", took, err)
		a.Observer.Ended(job, instance.Result{}, err, took)
		a.spend(after, job, &result)
		_ = a.fail(after, job, err) // logged there; the delay covers it
		return nak(msg.faultDelay(err))
	}
	if result.Spend.WallMS == 0 {
		result.Spend.WallMS = took.Milliseconds()
	}
	if NeedsOthers(err) {
		over, left := a.askOthers(after, job, &result, err)
		switch {
		case over:
			how := "asked"
			if errors.As(err, new(*ErrGiveBack)) {
				how = "given back"
			}
			a.logStep(slog.LevelInfo, stepDone, job, how, took, err)
			a.Observer.Ended(job, instance.Result{}, err, took)
			return msg.ack // the others have the work
		case claimGone(left):
			a.dropResult(job, left, took)
			return nak(0)
		}
		err = left
	}
	if err != nil {
		result.Status, result.Summary = instance.Failure, a.redact.text(err.Error())
		if result.FailureSignature == "" {
			result.FailureSignature = signature(result.Summary)
		}
	}
	return a.complete(after, msg, job, result, err, took, ctx.Err() == nil)
}

// complete reports the result, with a claim of more work if more is set. It returns what
// acknowledges the message.
func (a *worker) complete(ctx context.Context, msg delivery, job Job, result instance.Result, failed error, took time.Duration, more bool) (acknowledge func() error) {
	err := a.report(ctx, job, &pb.Report{Token: uint32(job.Token), Result: wire.Result(result)}, more)
	if err == nil {
		why := failed
		if why == nil && result.Status != instance.Success && result.Summary != "" {
			why = errors.New(result.Summary)
		}
		a.logStep(slog.LevelInfo, stepDone, job, string(result.Status), took, why)
		a.Observer.Ended(job, result, failed, took)
		return msg.ack
	}
	if claimGone(err) {
		a.dropResult(job, errors.Join(failed, err), took)
		return func() error { return msg.nak(0) }
	}
	// This result will never be accepted. Another try may have a better one, and
	// faults are counted.
	a.logStep(slog.LevelError, "result refused", job, "refused", took, err)
	a.Observer.Ended(job, instance.Result{}, errors.Join(failed, err), took)
	_ = a.giveBack(ctx, job, subject.Fail, "the result cannot be taken: "+err.Error())
	return func() error { return msg.nak(msg.faultDelay(nil)) }
}

// claimGone reports whether a command failed because no orchestrator replies or
// because the claim has ended.
func claimGone(err error) bool {
	no := new(instance.Refusal)
	return errors.Is(err, client.ErrUnavailable) || errors.As(err, &no) && no.Code != instance.CodeUndecided && no.Code != instance.CodeInvalid
}

// dropResult drops the result. The next claim of the message finds out how the
// instance is.
func (a *Agent) dropResult(job Job, err error, took time.Duration) {
	a.logStep(slog.LevelWarn, "result not taken", job, "dropped", took, err)
	a.Observer.Ended(job, instance.Result{}, fmt.Errorf("%w: %w", errLost, err), took)
}

// shutdownGrace is how long a stopped agent waits for the reply to a claim.
const shutdownGrace = 5 * time.Second

// withGrace returns a context that ends d after ctx does.
func withGrace(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		_ = pacing.Pause(longer, d)
		cancel()
	})
	return longer, func() { stop(); cancel() }
}

// giveBack ends the claim without a result, with the command Release or Fail. It logs
// only its error; the lease then expires.
func (a *Agent) giveBack(ctx context.Context, job Job, how, reason string) error {
	reason = a.redact.text(reason)
	cmd := &pb.Command{Action: &pb.Command_Release{Release: &pb.Release{Token: uint32(job.Token), Reason: reason}}}
	if how == subject.Fail {
		cmd.Action = &pb.Command_Fail{Fail: &pb.Fail{Token: uint32(job.Token), Reason: reason}}
	}
	return a.give(ctx, job, how, cmd)
}

// fail ends the claim because of a fault, and says when that is over if it is known.
func (a *Agent) fail(ctx context.Context, job Job, fault error) error {
	f := &pb.Fail{Token: uint32(job.Token), Reason: a.redact.text(fault.Error())}
	if later := (*brain.LaterError)(nil); errors.As(fault, &later) {
		f.Until = timestamppb.New(later.Until)
	}
	return a.give(ctx, job, subject.Fail, &pb.Command{Action: &pb.Command_Fail{Fail: f}})
}

// give sends the command that ends a claim without a result.
func (a *Agent) give(ctx context.Context, job Job, how string, cmd *pb.Command) error {
	err := a.command(ctx, job, how, cmd)
	if err != nil {
		a.Log.Warn("claim not given back; its lease runs out", "instance", job.Instance, "state", job.State, "error", err)
	}
	return err
}

// stopping is why a stopped agent gives its work back.
const stopping = "the agent is stopping"

// stepDone is the message of a step whose result was taken.
const stepDone = "step done"

// logStep logs how a step ended: the one line that is about it. err says why; it is nil
// for a result as it was wanted.
func (a *Agent) logStep(level slog.Level, message string, job Job, result string, took time.Duration, err error) {
	about := []any{"instance", job.Instance, "state", job.State, "role", a.Role, "attempt", job.Attempt, "result", result,
		"took", took.Round(time.Millisecond)}
	if err != nil {
		why, _, _ := strings.Cut(a.redact.text(err.Error()), "\n")
		about = append(about, "error", why)
	}
	a.Log.Log(context.Background(), level, message, about...)
}
