package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// DefaultAttempts is how often the writer may try where the lifecycle's policy
// max_attempts does not say.
const DefaultAttempts = 3

// agents are the roles in the order in which they work.
var agents = []string{"triage", "analyst", "writer", "build", "reviewer", "committer"}

// States whose names the document's status depends on.
const (
	stateBlocked   = "blocked"
	stateCompleted = "completed"
	stateWriter    = "writer"
	stateTriage    = "triage"
	stateCommitter = "committer"
)

// Of is the document of an instance whose writer may try so often; 0 is
// DefaultAttempts.
func Of(in instance.Instance, maxAttempts int) Document {
	d := Document{
		Version: Version,
		Issue: Issue{
			Number: in.Issue.Number, Title: in.Issue.Title, URL: in.Issue.URL, Type: Type(in.Issue),
			OriginalBody: in.Issue.Body, Labels: in.Issue.Labels,
		},
		Pipeline: Pipeline{
			StartedAt: in.OpenedAt.UTC().Truncate(time.Second), CurrentAgent: current(in),
			Attempt: max(1, in.Visited(stateWriter)), MaxAttempts: cmp.Or(maxAttempts, DefaultAttempts),
		},
		Communication: communication(in),
		Learnings:     learnings(in),
	}
	d.Pipeline.standing(in)
	d.sections(in)
	if in.Closed == "" {
		d.reopen(d.Pipeline.CurrentAgent)
	}
	if in.State == stateWriter && in.Closed == "" {
		d.Writer.Attempt, d.Writer.PreviousFeedback = d.Pipeline.Attempt, feedback(in, d)
	}
	return d
}

// sections lays what the roles wrote over what they start from.
func (d *Document) sections(in instance.Instance) {
	scope, complexity := Size(in.Issue)
	d.Triage = stored("triage", Triage{Scope: scope, Complexity: complexity, ShouldProceed: true}, in.Sections)
	d.Analysis = stored("analysis", Analysis{TestRequirement: TestRequirement{Required: true, Type: testType(d.Issue.Type)}}, in.Sections)
	d.Writer = stored("writer", Writer{Attempt: d.Pipeline.Attempt}, in.Sections)
	d.Build = stored("build", Build{}, in.Sections)
	d.Review = stored("review", Review{Verdict: NeedsInfo}, in.Sections)
	d.Commit = stored("commit", Commit{Branch: Branch(in.Issue)}, in.Sections)
}

// reopen takes the word of the agent whose turn it is, and of all after it, that
// it is done: that was another attempt's.
func (d *Document) reopen(agent string) {
	done := []*bool{
		&d.Triage.Completed, &d.Analysis.Completed, &d.Writer.Completed, &d.Build.Completed, &d.Review.Completed, &d.Commit.Completed,
	}
	if i := slices.Index(agents, agent); i >= 0 {
		for _, completed := range done[i:] {
			*completed = false
		}
	}
}

// current returns the agent whose part of the pipeline the run is in. That is the owner of
// the state, or in a state without one the last. States are named for their agents.
func current(in instance.Instance) string {
	if in.Owner != "" {
		return in.Owner
	}
	for state := range in.Previous.Backward() {
		if slices.Contains(agents, state) {
			return state
		}
	}
	return agents[0]
}

// standing is the status and its reason.
func (p *Pipeline) standing(in instance.Instance) {
	held, escalated := in.Escalation()
	said := ""
	if in.Last != nil {
		said = strings.TrimSpace(in.Last.Summary)
	}
	switch {
	case in.Closed == instance.Cancelled:
		p.Status, p.FailureReason = Failed, reason("Cancelled", in.Reason)
	case in.Closed != "" && in.State == stateCompleted:
		p.Status = Completed
	case in.Closed != "" && (in.LastState == stateTriage || in.LastState == stateCommitter):
		p.Status, p.FailureReason = Failed, reason(in.Reason, said)
	case in.Closed != "":
		p.Status, p.FailureReason = Failed, in.Reason
	case in.Paused:
		p.Status, p.BlockedReason = Blocked, reason("Paused", in.Reason)
	case escalated && in.LastState == in.State: // by the lifecycle, for what was said
		p.Status, p.BlockedReason = Blocked, reason(held.Reason, said)
	case escalated:
		p.Status, p.BlockedReason = Blocked, held.Reason
	case in.State == stateBlocked || in.Kind == workflow.Wait:
		p.Status, p.BlockedReason = Blocked, reason(in.Reason, said)
	default:
		p.Status = InProgress
	}
}

// reason joins what the lifecycle says and what the agent said.
func reason(rule, said string) string {
	if rule == "" || said == "" {
		return rule + said
	}
	return rule + " - " + said
}

// feedback is what sent the work back to the writer; nil on the first attempt.
func feedback(in instance.Instance, d Document) *string {
	if d.Pipeline.Attempt == 1 {
		return nil
	}
	if before := in.Previous.Last(1); len(before) > 0 && before[0] == stateWriter && in.Last != nil && in.Last.Status == instance.Failure {
		text := strings.TrimSpace(strings.Join(append([]string{in.Last.Summary}, in.Last.IssuesFound...), "\n"))
		return &text
	}
	return d.Review.FeedbackForWriter
}

func communication(in instance.Instance) (c Communication) {
	for _, q := range in.Questions {
		one := Question{From: q.From, To: cmp.Or(q.To, workflow.Human), Question: q.Text, Answered: q.Answered}
		if q.Answered {
			one.Answer = &q.Answer
		}
		c.Questions = append(c.Questions, one)
	}
	for _, e := range in.Escalations {
		c.Escalations = append(c.Escalations, Escalation{e.Agent, e.Reason, e.RequiresHuman, e.Resolved})
	}
	return c
}

// learnings are the notes of agents, and what people said.
func learnings(in instance.Instance) Learnings {
	l := Learnings{SessionID: fmt.Sprintf("%s-issue-%d", in.OpenedAt.UTC().Format(time.DateOnly), in.Issue.Number)}
	for _, n := range in.Notes {
		if role, _, agent := strings.Cut(n.Author, "/"); agent && slices.Contains(agents, role) {
			l.Observations = append(l.Observations, Observation{role, n.Kind, n.Text})
		} else if n.Kind == "commented" {
			l.Observations = append(l.Observations, Observation{workflow.Human, n.Kind, n.Text})
		}
	}
	if in.Closed != "" {
		outcome := string(Failed)
		switch {
		case in.Closed == instance.Cancelled:
			outcome = string(instance.Cancelled)
		case in.State == stateCompleted:
			outcome = string(Completed)
		}
		l.Outcome = &outcome
	}
	return l
}

// Branch is where the work on an issue is pushed.
func Branch(issue instance.Issue) string { return "agent/issue-" + strconv.Itoa(issue.Number) }
