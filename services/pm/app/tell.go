package app

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// tell posts what people have to know of an instance after a commit, each once. That is how
// it ended, what was escalated to them, what it waits for in a state with tell, or which
// deadline has passed. If the commit is an old one, it leaves out what is past.
func (h *handler) tell(ctx context.Context, after subject.Event, in *pb.Instance) error {
	issue := wire.ToIssue(in.GetIssue())
	if issue.Number == 0 { // what has no issue is talked about on its pull request
		issue.Number, _ = strconv.Atoi(in.GetVars()["prNumber"])
	}
	if issue.Number == 0 {
		var err error
		if issue.Number, err = h.askIssue(ctx, in, issue.Repo); err != nil {
			return err
		}
	}
	switch {
	case issue.Number == 0: // no issue on a forge
		return nil
	case h.gate.Repos.Check(issue.Repo) != nil: // it would be refused at each try
		h.gate.Refuse("comment", h.gate.Repos.Check(issue.Repo), "instance", in.GetInstance(), "repo", issue.Repo)
		return nil
	case in.GetKind() == string(workflow.Final):
		return h.end(ctx, in, issue)
	}
	for _, e := range wire.ToEscalations(in.GetEscalations()) {
		if e.Resolved || !e.RequiresHuman {
			continue
		}
		request := help(in, e.Reason, in.GetLastState() == in.GetState())
		request.Agent, request.Writers = e.Agent, true
		if _, err := h.post(ctx, in.GetInstance(), issue, fmt.Sprintf("escalation-%d", e.Number), request.Text()); err != nil {
			return err
		}
	}
	if err := h.tellLate(ctx, in, issue); err != nil {
		return err
	}
	if in.GetKind() != string(workflow.Wait) || in.GetState() != after.State || in.GetClosed() != "" {
		return nil
	}
	key := fmt.Sprintf("waits-%s-%d", in.GetState(), in.GetAttempt())
	_, err := h.post(ctx, in.GetInstance(), issue, key, help(in, in.GetReason(), true).Text())
	return err
}

// tellLate reminds people of what they are waited for, at each deadline, and tells them
// of work that has taken its time and more.
func (h *handler) tellLate(ctx context.Context, in *pb.Instance, issue instance.Issue) error {
	level, waits := workflow.Level(in.GetLevel()), in.GetKind() == string(workflow.Wait)
	if level == "" || in.GetClosed() != "" || level == workflow.Warning && !waits {
		return nil
	}
	expected := in.GetTimeout().AsDuration()
	late := rules.Late{Waits: waits, Worker: in.GetWorker(), State: in.GetState(), For: h.now().Sub(deadlinesSince(in)), Expected: expected,
		Open: help(in, "", false).Open, Intervene: level == workflow.Escalation, Command: "signalbox explain " + in.GetInstance()}
	_, err := h.post(ctx, in.GetInstance(), issue, fmt.Sprintf("deadline-%s-%d-%s", in.GetState(), in.GetAttempt(), level), late.Text())
	return err
}

// deadlinesSince returns the time that the deadlines of the stay count from.
func deadlinesSince(in *pb.Instance) time.Time {
	if since := in.GetDeadlinesSince(); since != nil {
		return since.AsTime()
	}
	return in.GetEnteredAt().AsTime()
}

// end posts how an instance ended that has no pull request, or what is owed of one that has.
func (h *handler) end(ctx context.Context, in *pb.Instance, issue instance.Issue) error {
	last := wire.ToResult(in.GetLastResult())
	untold := last.Data[forgeside.Untold] != ""
	if n, err := strconv.Atoi(last.Data["pr_number"]); err == nil && untold {
		_, err = h.post(ctx, in.GetInstance(), issue, openedKey, rules.Opened(n, last.Data["pr_url"]))
		return err
	}
	if n, err := strconv.Atoi(in.GetVars()["followUp"]); err == nil && n > 0 && untold {
		issue.Number = n
		_, err = h.post(ctx, in.GetInstance(), issue, "ended", ending(in.GetState(), in.GetReason(), last))
		return err
	}
	if n := in.GetVars()["prNumber"]; last.Data["pr_url"] != "" || n != "" && n != "0" {
		return nil
	}
	_, err := h.post(ctx, in.GetInstance(), issue, "ended", ending(in.GetState(), in.GetReason(), last))
	return err
}

// help asks people for what the instance waits for. It names the last result if
// that stopped it.
func help(in *pb.Instance, reason string, stopped bool) rules.HelpRequest {
	p := rules.HelpRequest{Reason: reason}
	for _, q := range wire.ToQuestions(in.GetQuestions()) {
		if q.To == "" && !q.Answered {
			p.Open = append(p.Open, q)
		}
	}
	if stopped {
		last := wire.ToResult(in.GetLastResult())
		p.Summary, p.Found = last.Summary, last.IssuesFound
	}
	return p
}
