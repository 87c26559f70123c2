package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// ErrAsk is the error of a handler that needs answers of other roles. The agent
// sends the questions instead of a report. The work is dispatched again with the
// answers (pipeline lifecycle, asking questions).
type ErrAsk struct {
	Questions []instance.Inquiry
	Head      string // of the work so far, in Bundle; empty: unchanged
	Bundle    string
	Sections  map[string]string // written so far of the document, JSON by name
}

// Error implements error.
func (a *ErrAsk) Error() string {
	if len(a.Questions) == 0 {
		return "asks nobody"
	}
	return "asks the " + a.Questions[0].To + ": " + a.Questions[0].Question
}

// ErrEscalate is the error of a handler that puts the matter to people. If it
// requires them, the claim ends with it and the work is dispatched again when
// people have resolved it. Otherwise the agent goes on with Then, or with the
// result (pipeline lifecycle, escalations).
type ErrEscalate struct {
	Reason        string
	RequiresHuman bool
	Then          error // a failure or an *ErrAsk; nil: the result

	// The work so far, as in an *ErrAsk. Set only if people are required; otherwise
	// Then or the result has it.
	Head     string
	Bundle   string
	Sections map[string]string
}

// Error implements error.
func (e *ErrEscalate) Error() string { return "escalates: " + e.Reason }

// ErrGiveBack is the error of a handler that ended the work before it was done. The agent
// hands over what there is so far, and the work is dispatched again.
type ErrGiveBack struct {
	Reason   string
	Head     string // as in an *ErrAsk
	Bundle   string
	Sections map[string]string
}

// Error implements error.
func (e *ErrGiveBack) Error() string { return "gives the work back: " + e.Reason }

// NeedsOthers reports whether the error asks other roles or people, or gives the work
// back. It is not a failure.
func NeedsOthers(err error) bool {
	return errors.As(err, new(*ErrAsk)) || errors.As(err, new(*ErrEscalate)) || errors.As(err, new(*ErrGiveBack))
}

// askOthers sends the handler's questions or escalation, and moves the cost so far
// from the result to a command of its own. over reports that the claim ended. If
// not, left is the error to report with the result, or nil. A refused question or
// escalation becomes such an error.
func (a *Agent) askOthers(ctx context.Context, job Job, result *instance.Result, err error) (over bool, left error) {
	if e := new(ErrGiveBack); errors.As(err, &e) {
		a.spend(ctx, job, result)
		err := a.command(ctx, job, subject.Release, &pb.Command{Action: &pb.Command_Release{
			Release: &pb.Release{Token: uint32(job.Token), Reason: a.redact.text(e.Reason), Head: e.Head, Bundle: e.Bundle,
				Sections: a.redact.sections(e.Sections), Artifacts: wire.Result(*result).GetArtifacts()}}})
		return err == nil, refusedRequest("give the work back", result, err, nil)
	}
	if e := new(ErrEscalate); errors.As(err, &e) {
		if e.RequiresHuman {
			a.spend(ctx, job, result)
		}
		err := a.command(ctx, job, subject.Escalate, &pb.Command{Action: &pb.Command_Escalate{
			Escalate: &pb.Escalate{Token: uint32(job.Token), Reason: a.redact.text(e.Reason), RequiresHuman: e.RequiresHuman, Head: e.Head,
				Bundle: e.Bundle, Sections: a.redact.sections(e.Sections), Artifacts: kept(e, *result)}}})
		if err != nil || e.RequiresHuman || !NeedsOthers(e.Then) {
			return err == nil && e.RequiresHuman, refusedRequest("escalate", result, err, e.Then)
		}
		return a.askOthers(ctx, job, result, e.Then)
	}
	q := new(ErrAsk)
	errors.As(err, &q)
	a.spend(ctx, job, result)
	ask := &pb.Inquire{Token: uint32(job.Token), Head: q.Head, Bundle: q.Bundle, Sections: a.redact.sections(q.Sections)}
	for _, inquiry := range q.Questions {
		ask.Questions = append(ask.Questions, &pb.Inquiry{To: inquiry.To, Question: a.redact.text(inquiry.Question), RunOnly: inquiry.RunOnly})
	}
	err = a.command(ctx, job, subject.Inquire, &pb.Command{Action: &pb.Command_Inquire{Inquire: ask}})
	return err == nil, refusedRequest("ask", result, err, nil)
}

// kept returns what is kept of a step that an escalation ends; else its report has it.
func kept(e *ErrEscalate, r instance.Result) []*pb.Artifact {
	if !e.RequiresHuman {
		return nil
	}
	return wire.Result(r).GetArtifacts()
}

// refusedRequest returns then, or the failure that reports the refusal.
func refusedRequest(what string, result *instance.Result, refused, then error) error {
	if refused == nil {
		return then
	}
	result.Head, result.Bundle, result.Sections = "", "", nil // what a failed step left is not handed on
	return fmt.Errorf("it cannot %s: %w", what, refused)
}

// spend records the result's cost under the claim, which ends without a report.
// After an error the cost stays in the result, for a later report.
func (a *Agent) spend(ctx context.Context, job Job, result *instance.Result) {
	if result.Spend.Zero() {
		return
	}
	if err := a.charge(ctx, job, result.Spend); err != nil {
		a.Log.Warn("cost not booked", "instance", job.Instance, "state", job.State, "error", err)
		return
	}
	result.Spend = instance.Cost{}
}

// charge records a cost under the claim.
func (a *Agent) charge(ctx context.Context, job Job, cost instance.Cost) error {
	return a.command(ctx, job, subject.Spend, &pb.Command{Action: &pb.Command_Spend{
		Spend: &pb.Charge{Token: uint32(job.Token), Spend: wire.Result(instance.Result{Spend: cost}).GetSpend()}}})
}

// command sends one command about the job.
func (a *Agent) command(ctx context.Context, job Job, name string, cmd *pb.Command) error {
	cmd.Instance, cmd.Actor = job.Instance, a.Name
	reply, err := a.Client.DoAs(ctx, a.Role, name, cmd)
	if why := reply.GetOver(); why != "" && job.spent != nil {
		job.spent(&brain.SpentError{Why: why})
	}
	return err
}
