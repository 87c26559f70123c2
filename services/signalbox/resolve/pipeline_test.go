package resolve_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// TestThePipelineWithForeignAgents takes issues through the pipeline, all at once,
// on a real server, a real forge and a real repository.
func TestThePipelineWithForeignAgents(t *testing.T) {
	withEnv(t, func(e *env) {
		var all sync.WaitGroup
		for _, run := range []func(*env){
			straight, buildFailsTwice, rejectedThreeTimes, needsInfo, question, escalation, triageStops, forbidden, mustNot,
		} {
			all.Go(func() { run(e) })
		}
		all.Wait()
	})
}

const way = "triage analyst writer build reviewer committer"

// went checks the states that an instance went through.
func (e *env) went(i instance.Instance, want string) {
	if got := strings.Join(i.Previous.Slice(), " "); got != want {
		e.Errorf("%s went through %s, want %s", i.Issue.Title, got, want)
	}
}

func straight(e *env) {
	id, number := e.begin("straight")
	i, d := e.until(id, in("completed"))
	e.went(i, way)
	if d.Pipeline.Status != pipeline.Completed || d.Pipeline.Attempt != 1 || !d.Triage.Completed || d.Triage.Scope != "MEDIUM" ||
		d.Analysis.Brief != "Greet." ||
		!d.Writer.TestWritten || d.Writer.TestFile != "greeting_test.txt" || !d.Build.TestsPassed || d.Review.Verdict != pipeline.Approved ||
		*d.Learnings.Outcome != "completed" {
		e.Errorf("the document is %+v", d)
	}
	if c := d.Build.CommandsRun; len(c) != 1 || c[0].Command != "sh check.sh" || c[0].ExitCode != 0 {
		e.Errorf("run were %+v", c)
	}
	branch := fmt.Sprintf("agent/issue-%d", number)
	pr, err := e.ann.PullRequestByHead(e.ctx, widgets, branch)
	if err != nil || !strings.Contains(pr.Body, fmt.Sprintf("Closes #%d.", number)) || pr.URL != *d.Commit.PRURL ||
		pr.HeadSHA != *d.Commit.Hash || d.Commit.Branch != branch || !d.Commit.Pushed {
		e.Errorf("the pull request is %+v, %v; the commit %+v", pr, err, d.Commit)
	}
}

func buildFailsTwice(e *env) {
	id, _ := e.begin("build fails twice")
	_, second := e.until(id, func(i instance.Instance, d pipeline.Document) bool { return d.Pipeline.Attempt == 2 })
	if f := second.Writer.PreviousFeedback; f == nil || !strings.Contains(*f, "1:wrong 1") || second.Writer.Completed ||
		second.Build.Completed || len(second.Build.Errors) != 1 {
		e.Errorf("the second attempt begins with %+v", second)
	}
	i, d := e.until(id, in("completed"))
	e.went(i, "triage analyst writer build writer build writer build reviewer committer")
	var heard []string
	for _, o := range d.Learnings.Observations {
		heard = append(heard, o.Content)
	}
	if d.Pipeline.Attempt != 3 || len(heard) != 2 || !strings.Contains(heard[0], "wrong 1") || !strings.Contains(heard[1], "wrong 2") {
		e.Errorf("after attempt %d the writer had heard %q", d.Pipeline.Attempt, heard)
	}
}

func rejectedThreeTimes(e *env) {
	id, number := e.begin("rejected")
	i, d := e.until(id, in("failed"))
	e.went(i, "triage analyst writer build reviewer writer build reviewer writer build reviewer")
	if p := d.Pipeline; p.Status != pipeline.Failed || p.Attempt != 3 || p.FailureReason != "Writer-Reviewer loop exhausted after 3 attempts" {
		e.Errorf("the run is %+v", p)
	}
	if f := d.Review.FeedbackForWriter; f == nil || *f != "attempt 3 is not polite" || d.Review.Verdict != pipeline.Rejected {
		e.Errorf("the review is %+v", d.Review)
	}
	e.awaitComment(number, "Writer-Reviewer loop exhausted after 3 attempts", "No pull request was opened")
}

func needsInfo(e *env) {
	id, number := e.begin("needs info")
	_, d := e.until(id, in("blocked"))
	if p := d.Pipeline; p.Status != pipeline.Blocked || p.CurrentAgent != "reviewer" ||
		p.BlockedReason != "the reviewer needs to know more - Who is greeted?" {
		e.Errorf("the run is %+v", p)
	}
	e.awaitComment(number, "the reviewer needs to know more", "Who is greeted?", "reply here")
	e.comment(number, "The world.")
	i, _ := e.until(id, in("completed"))
	e.went(i, "triage analyst writer build reviewer blocked reviewer committer")
}

func question(e *env) {
	id, _ := e.begin("question")
	_, asked := e.until(id, func(i instance.Instance, _ pipeline.Document) bool {
		return i.State == "writer" && i.Worker() == "analyst"
	})
	if q := asked.Communication.Questions; len(q) != 2 || q[1].From != "writer" || q[1].To != "analyst" || q[1].Answered ||
		asked.Pipeline.CurrentAgent != "writer" {
		e.Errorf("asked is %+v of %+v", q, asked.Pipeline)
	}
	i, d := e.until(id, in("completed"))
	e.went(i, way)
	if q := d.Communication.Questions; len(q) != 2 || !q[1].Answered || *q[1].Answer != "in French" || d.Pipeline.Attempt != 1 {
		e.Errorf("answered is %+v", q)
	}
	// Work from before the question is still there after the answer.
	if !d.Writer.TestWritten || len(d.Writer.Changes) != 2 {
		e.Errorf("the writer's section is %+v", d.Writer)
	}
	if got := e.file(d.Commit.Branch, "greeting"); got != "begun\nbonjour, in French\n" {
		e.Errorf("the greeting is %q", got)
	}
}

func escalation(e *env) {
	id, number := e.begin("escalation")
	_, d := e.until(id, func(i instance.Instance, _ pipeline.Document) bool { _, held := i.Escalation(); return held })
	if d.Pipeline.Status != pipeline.Blocked || d.Pipeline.BlockedReason != "It greets strangers" ||
		d.Communication.Escalations[0] != (pipeline.Escalation{Agent: "reviewer", Reason: "It greets strangers", RequiresHuman: true}) {
		e.Errorf("the document is %+v", d)
	}
	e.awaitComment(number, "The reviewer asks for a person.", "It greets strangers")
	e.comment(number, "It may.")
	i, d := e.until(id, in("completed"))
	e.went(i, way)
	if escalated := d.Communication.Escalations; len(escalated) != 1 || !escalated[0].Resolved || i.Escalations[0].By != "ann" {
		e.Errorf("the escalations are %+v", i.Escalations)
	}
}

func triageStops(e *env) {
	id, number := e.begin("triage stops")
	i, d := e.until(id, in("failed"))
	e.went(i, "triage")
	if d.Pipeline.FailureReason != "triage stops it - it is no report" || d.Triage.ShouldProceed ||
		*d.Triage.RejectionReason != "it is no report" {
		e.Errorf("the document is %+v", d)
	}
	e.awaitComment(number, "triage stops it", "it is no report")
}

func forbidden(e *env) {
	id, _ := e.begin("forbidden")
	i, d := e.until(id, in("build"))
	for _, name := range []string{"analysis", "commit", "pipeline.status", "review.verdict"} {
		if !slices.ContainsFunc(i.Last.IssuesFound, func(s string) bool { return strings.HasPrefix(s, name+" ") }) {
			e.Errorf("%s is not refused by name: %q", name, i.Last.IssuesFound)
		}
	}
	if len(i.Last.IssuesFound) != 4 || d.Analysis.Brief != "Greet." || d.Review.Verdict != pipeline.NeedsInfo || d.Commit.Pushed ||
		d.Pipeline.Attempt != 1 || d.Writer.Summary != "Greets, attempt 1" {
		e.Errorf("refused is %q, the document %+v", i.Last.IssuesFound, d)
	}
	i, _ = e.until(id, in("completed"))
	e.went(i, way)
}

func mustNot(e *env) {
	id, _ := e.begin("must not")
	i, d := e.until(id, in("completed"))
	e.went(i, "triage analyst writer writer build reviewer committer")
	if o := d.Learnings.Observations; len(o) != 1 || !strings.Contains(o[0].Content, "check.sh: the analysis forbids “Don't modify check.sh”") {
		e.Errorf("the writer heard %+v", o)
	}
	if got := e.file(d.Commit.Branch, "check.sh"); !strings.Contains(got, "wrong") {
		e.Errorf("check.sh is %q", got)
	}
}
