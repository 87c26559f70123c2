package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Asking is the error of a handler that cannot go on before other roles have
// answered. They are asked in the place of a report, and the work comes back
// with their answers (pipeline lifecycle, asking questions).
type Asking struct {
	Questions []instance.Inquiry
	Head      string // what the work is at meanwhile, with Bundle; empty: unchanged
	Bundle    string
	Sections  map[string]string // that it wrote of the document, JSON by name
}

// Error implements error.
func (a *Asking) Error() string {
	if len(a.Questions) == 0 {
		return "asks nobody"
	}
	return "asks the " + a.Questions[0].To + ": " + a.Questions[0].Question
}

// Escalating is the error of a handler that puts the matter to people. If it
// requires them that is all, and the work comes back when they have resolved
// it; otherwise Then follows, or the result (pipeline lifecycle, escalations).
type Escalating struct {
	Reason        string
	RequiresHuman bool
	Then          error // what else there is to say: a failure or an *Asking; nil: the result

	// What the work is at meanwhile, as with an *Asking. Who does not require
	// people says it with what follows.
	Head     string
	Bundle   string
	Sections map[string]string
}

// Error implements error.
func (e *Escalating) Error() string { return "escalates: " + e.Reason }

// Pleads reports whether the error asks something of others: it is no failure.
func Pleads(err error) bool {
	return errors.As(err, new(*Asking)) || errors.As(err, new(*Escalating))
}

// plead sends what the handler asks of others, and what it has cost so far,
// which then is no longer in the result. over says that the claim ended with
// it; else left is what there is still to say. A refusal is a failure that says
// so, and never the end of the work.
func (a *Agent) plead(ctx context.Context, job Job, result *instance.Result, err error) (over bool, left error) {
	if e := new(Escalating); errors.As(err, &e) {
		if e.RequiresHuman {
			a.charge(ctx, job, result)
		}
		err := a.command(ctx, job, subject.Escalate, &pb.Command{Action: &pb.Command_Escalate{
			Escalate: &pb.Escalate{Token: uint32(job.Token), Reason: e.Reason, RequiresHuman: e.RequiresHuman, Head: e.Head, Bundle: e.Bundle, Sections: e.Sections}}})
		if err != nil || e.RequiresHuman || !Pleads(e.Then) {
			return err == nil && e.RequiresHuman, cannot("escalate", result, err, e.Then)
		}
		return a.plead(ctx, job, result, e.Then)
	}
	q := new(Asking)
	errors.As(err, &q)
	a.charge(ctx, job, result)
	ask := &pb.Inquire{Token: uint32(job.Token), Head: q.Head, Bundle: q.Bundle, Sections: q.Sections}
	for _, inquiry := range q.Questions {
		ask.Questions = append(ask.Questions, &pb.Inquiry{To: inquiry.To, Question: inquiry.Question})
	}
	err = a.command(ctx, job, subject.Inquire, &pb.Command{Action: &pb.Command_Inquire{Inquire: ask}})
	return err == nil, cannot("ask", result, err, nil)
}

// cannot is the failure that a refused plea is, or else what follows it.
func cannot(what string, result *instance.Result, refused, then error) error {
	if refused == nil {
		return then
	}
	result.Head, result.Bundle, result.Sections = "", "", nil // what a failed step left is not handed on
	return fmt.Errorf("it cannot %s: %w", what, refused)
}

// charge books the result's cost under the claim, which will end without a
// report. What cannot be booked is booked with a report that may yet come.
func (a *Agent) charge(ctx context.Context, job Job, result *instance.Result) {
	if result.Spend == (instance.Cost{}) {
		return
	}
	if err := a.command(ctx, job, subject.Spend, &pb.Command{Action: &pb.Command_Spend{
		Spend: &pb.Charge{Token: uint32(job.Token), Spend: wire.Result(*result).GetSpend()}}}); err != nil {
		a.Log.Warn("cost not booked", "instance", job.Instance, "state", job.State, "error", err)
		return
	}
	result.Spend = instance.Cost{}
}

// command sends one command about the job.
func (a *Agent) command(ctx context.Context, job Job, name string, cmd *pb.Command) error {
	cmd.Instance, cmd.Actor = job.Instance, a.Name
	_, err := a.Client.DoAs(ctx, a.Role, name, cmd)
	return err
}
