package pipeline

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/series"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

var opened = time.Date(2024, 1, 15, 10, 30, 0, 5, time.UTC)

// in is an instance in a state, which a role owns unless it is empty.
func in(state, owner string, before ...string) instance.Instance {
	i := instance.Instance{
		ID: "acme/widgets/42", OpenedAt: opened, State: state, Owner: owner, Kind: workflow.Work, Previous: series.New(before...),
		Issue: instance.Issue{Number: 42, Title: "Fix the sum", Body: "It says 5.", URL: "https://forge/acme/widgets/issues/42"},
	}
	if owner == "" {
		i.Kind = workflow.Wait
	}
	count := 0
	for _, s := range append(before, state) {
		if s == "writer" {
			count++
		}
	}
	if count > 0 {
		i.Visits = []instance.Visit{{State: "writer", Count: count}}
	}
	return i
}

func ended(i instance.Instance, reason string) instance.Instance {
	i.Kind, i.Closed, i.Reason = workflow.Final, instance.Ended, reason
	return i
}

func said(i instance.Instance, state string, status instance.Status, summary string) instance.Instance {
	i.LastState, i.Last = state, &instance.Result{Status: status, Summary: summary}
	return i
}

func TestTheStatusSaysHowTheRunStands(t *testing.T) {
	loop := "Writer-Reviewer loop exhausted after 3 attempts"
	blocked := said(in("blocked", "", "triage", "analyst"), "analyst", instance.Blocked, "unclear requirements")
	blocked.Reason = "Analyst could not determine scope"
	held := in("reviewer", "reviewer", "triage", "analyst", "writer", "build")
	held.Escalations = []instance.Escalation{{Number: 1, Agent: "reviewer", Reason: "touches authentication", RequiresHuman: true}}
	paused := in("writer", "writer", "triage", "analyst")
	paused.Paused, paused.Reason = true, "5 infrastructure faults"
	cancelled := in("writer", "writer", "triage", "analyst")
	cancelled.Closed, cancelled.Reason = instance.Cancelled, "not wanted"
	for name, c := range map[string]struct {
		in   instance.Instance
		want Pipeline
	}{
		"begun":            {in("triage", "triage"), Pipeline{CurrentAgent: "triage", Attempt: 1, Status: InProgress}},
		"the second draft": {in("writer", "writer", "triage", "analyst", "writer", "build"), Pipeline{CurrentAgent: "writer", Attempt: 2, Status: InProgress}},
		"blocked":          {blocked, Pipeline{CurrentAgent: "analyst", Attempt: 1, Status: Blocked, BlockedReason: "Analyst could not determine scope - unclear requirements"}},
		"before people":    {held, Pipeline{CurrentAgent: "reviewer", Attempt: 1, Status: Blocked, BlockedReason: "touches authentication"}},
		"paused":           {paused, Pipeline{CurrentAgent: "writer", Attempt: 1, Status: Blocked, BlockedReason: "Paused - 5 infrastructure faults"}},
		"cancelled":        {cancelled, Pipeline{CurrentAgent: "writer", Attempt: 1, Status: Failed, FailureReason: "Cancelled - not wanted"}},
		"completed": {ended(in("completed", "", "triage", "analyst", "writer", "build", "reviewer", "committer"), "the pull request is open"),
			Pipeline{CurrentAgent: "committer", Attempt: 1, Status: Completed}},
		"out of attempts": {said(ended(in("failed", "", "writer", "reviewer", "writer", "reviewer", "writer", "reviewer"), loop), "reviewer", instance.Success, "no"),
			Pipeline{CurrentAgent: "reviewer", Attempt: 3, Status: Failed, FailureReason: loop}},
		"not taken up": {said(ended(in("failed", "", "triage"), "triage stops it"), "triage", instance.Success, "spam"),
			Pipeline{CurrentAgent: "triage", Attempt: 1, Status: Failed, FailureReason: "triage stops it - spam"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.MaxAttempts, c.want.StartedAt = 3, time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC)
			if got := Of(c.in, 0).Pipeline; got != c.want {
				t.Errorf("\n got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestAnAttemptBeginsWithWhatSentTheWorkBack(t *testing.T) {
	i := in("writer", "writer", "triage", "analyst", "writer", "build", "reviewer")
	i.Sections = map[string]string{
		"writer": `{"completed": true, "attempt": 1, "changes": [{"file": "a.go", "description": "d"}]}`,
		"build":  `{"completed": true, "tests_passed": true}`,
		"review": `{"completed": true, "verdict": "REJECTED", "feedback_for_writer": "null check"}`,
	}
	d := Of(i, 5)
	if text(d.Writer.PreviousFeedback) != "null check" || d.Writer.Attempt != 2 || d.Pipeline.MaxAttempts != 5 || len(d.Writer.Changes) != 1 {
		t.Errorf("the writer has %+v of %+v", d.Writer, d.Pipeline)
	}
	if d.Writer.Completed || d.Build.Completed || d.Review.Completed || d.Review.Verdict != Rejected || !d.Build.TestsPassed {
		t.Errorf("done are %+v, %+v, %+v", d.Writer, d.Build, d.Review)
	}
	failed := said(in("writer", "writer", "triage", "analyst", "writer"), "writer", instance.Failure, "did not compile")
	if got := text(Of(failed, 0).Writer.PreviousFeedback); got != "did not compile" {
		t.Errorf("after an attempt that failed the feedback is %q", got)
	}
	if got := Of(in("writer", "writer", "triage", "analyst"), 0).Writer.PreviousFeedback; got != nil {
		t.Errorf("the first attempt has the feedback %q", *got)
	}
}

func TestWhatRolesSaidIsInTheDocument(t *testing.T) {
	i := in("writer", "writer", "triage", "analyst")
	i.Questions = []instance.Question{{Number: 1, From: "writer", To: "analyst", Text: "Where?", Answered: true, Answer: "Here."}, {Number: 2, From: "analyst", Text: "Which?"}}
	i.Escalations = []instance.Escalation{{Number: 1, Agent: "reviewer", Reason: "r", Resolved: true}}
	i.Notes = []instance.NoteEntry{{Author: "writer/w-1", Kind: "pattern_discovered", Text: "lodash"}, {Author: "ada", Kind: "commented", Text: "hello"}}
	d := Of(i, 0)
	if q := d.Communication.Questions; len(q) != 2 || text(q[0].Answer) != "Here." || q[1].To != "human" || q[1].Answer != nil {
		t.Errorf("the questions are %+v", q)
	}
	if e := d.Communication.Escalations; len(e) != 1 || e[0] != (Escalation{"reviewer", "r", false, true}) {
		t.Errorf("the escalations are %+v", e)
	}
	if l := d.Learnings; l.SessionID != "2024-01-15-issue-42" || l.Outcome != nil || len(l.Observations) != 2 || l.Observations[0] != (Observation{"writer", "pattern_discovered", "lodash"}) || l.Observations[1].Agent != "human" {
		t.Errorf("learnt is %+v", l)
	}
	if got := Of(ended(in("completed", "", "committer"), ""), 0).Learnings.Outcome; text(got) != "completed" {
		t.Errorf("the outcome is %v", got)
	}
}

func TestWhateverTheLogHasThePrintedDocumentIsOne(t *testing.T) {
	values := []string{`null`, `true`, `1`, `-1`, `"x"`, `"APPROVED"`, `[]`, `["x"]`, `[1]`, `{}`, `[{"file": "a", "line": 2}]`, `[{"path": 1}]`, `{"good": null}`, `{"required": "yes"}`}
	keys := []string{"completed", "scope", "should_proceed", "files", "test_requirement", "must_do", "brief", "attempt", "changes", "errors", "commands_run", "verdict", "findings", "hash", "other"}
	rapid.Check(t, func(t *rapid.T) {
		i := in(rapid.SampledFrom(append(agents, "blocked", "completed", "failed", "else")).Draw(t, "state"), rapid.SampledFrom(append(agents, "")).Draw(t, "owner"))
		i.Sections = map[string]string{}
		for section := range owners() {
			m := map[string]json.RawMessage{}
			for range rapid.IntRange(0, 4).Draw(t, "keys") {
				m[rapid.SampledFrom(keys).Draw(t, "key")] = json.RawMessage(rapid.SampledFrom(values).Draw(t, "value"))
			}
			i.Sections[section] = rapid.SampledFrom([]string{string(encode(m)), "", "[1]", "{", "null"}).Draw(t, "text")
		}
		text, err := Of(i, 0).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	})
}

func TestTheTypeOfAnIssueIsToldByItsLabelsThenItsTitleThenItsWords(t *testing.T) {
	for want, issues := range map[string][]instance.Issue{
		BugFix:        {{Title: "x", Labels: []string{"bug", "frontend"}}, {Title: "Fix the sum"}, {Title: "x", Body: "It crashes."}, {Title: "Add it", Labels: []string{"type: bug"}}},
		NewFeature:    {{Title: "x", Labels: []string{"enhancement"}}, {Title: "Add a --page flag"}, {Title: "x", Body: "I would like an option for this."}},
		RefactorStyle: {{Title: "x", Labels: []string{"refactoring"}}, {Title: "Rename Foo to Bar"}, {Title: "style: run the formatter"}},
	} {
		for _, issue := range issues {
			if got := Type(issue); got != want {
				t.Errorf("%+v is %s, want %s", issue, got, want)
			}
		}
	}
}
