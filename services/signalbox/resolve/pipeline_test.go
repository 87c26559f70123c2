package resolve_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/pipeline"
)

// TestThePipelineWithForeignAgents takes issues through the pipeline, all at once,
// on a real server, a real forge and a real repository.
func TestThePipelineWithForeignAgents(t *testing.T) {
	live(t, func(w *world) {
		var all sync.WaitGroup
		for _, run := range []func(*world){
			straight, buildFailsTwice, rejectedThreeTimes, needsInfo, question, escalation, triageStops, forbidden, mustNot,
		} {
			all.Go(func() { run(w) })
		}
		all.Wait()
	})
}

const way = "triage analyst writer build reviewer committer"

// went says through which states an instance went.
func (w *world) went(i instance.Instance, want string) {
	if got := strings.Join(i.Previous.Slice(), " "); got != want {
		w.Errorf("%s went through %s, want %s", i.Issue.Title, got, want)
	}
}

func straight(w *world) {
	id, number := w.begin("straight")
	i, d := w.until(id, in("completed"))
	w.went(i, way)
	if d.Pipeline.Status != pipeline.Completed || d.Pipeline.Attempt != 1 || !d.Triage.Completed || d.Triage.Scope != "MEDIUM" || d.Analysis.Brief != "Greet." ||
		!d.Writer.TestWritten || d.Writer.TestFile != "greeting_test.txt" || !d.Build.TestsPassed || d.Review.Verdict != pipeline.Approved || *d.Learnings.Outcome != "completed" {
		w.Errorf("the document is %+v", d)
	}
	if c := d.Build.CommandsRun; len(c) != 1 || c[0].Command != "sh check.sh" || c[0].ExitCode != 0 {
		w.Errorf("run were %+v", c)
	}
	branch := fmt.Sprintf("agent/issue-%d", number)
	pr, err := w.ann.PullRequestByHead(w.ctx, widgets, branch)
	if err != nil || !strings.Contains(pr.Body, fmt.Sprintf("Closes #%d.", number)) || pr.URL != *d.Commit.PRURL || pr.HeadSHA != *d.Commit.Hash || d.Commit.Branch != branch || !d.Commit.Pushed {
		w.Errorf("the pull request is %+v, %v; the commit %+v", pr, err, d.Commit)
	}
}

func buildFailsTwice(w *world) {
	id, _ := w.begin("build fails twice")
	_, second := w.until(id, func(i instance.Instance, d pipeline.Document) bool { return d.Pipeline.Attempt == 2 })
	if f := second.Writer.PreviousFeedback; f == nil || !strings.Contains(*f, "1:wrong 1") || second.Writer.Completed || second.Build.Completed || len(second.Build.Errors) != 1 {
		w.Errorf("the second attempt begins with %+v", second)
	}
	i, d := w.until(id, in("completed"))
	w.went(i, "triage analyst writer build writer build writer build reviewer committer")
	var heard []string
	for _, o := range d.Learnings.Observations {
		heard = append(heard, o.Content)
	}
	if d.Pipeline.Attempt != 3 || len(heard) != 2 || !strings.Contains(heard[0], "wrong 1") || !strings.Contains(heard[1], "wrong 2") {
		w.Errorf("after attempt %d the writer had heard %q", d.Pipeline.Attempt, heard)
	}
}

func rejectedThreeTimes(w *world) {
	id, number := w.begin("rejected")
	i, d := w.until(id, in("failed"))
	w.went(i, "triage analyst writer build reviewer writer build reviewer writer build reviewer")
	if p := d.Pipeline; p.Status != pipeline.Failed || p.Attempt != 3 || p.FailureReason != "Writer-Reviewer loop exhausted after 3 attempts" {
		w.Errorf("the run is %+v", p)
	}
	if f := d.Review.FeedbackForWriter; f == nil || *f != "attempt 3 is not polite" || d.Review.Verdict != pipeline.Rejected {
		w.Errorf("the review is %+v", d.Review)
	}
	w.told(number, "Writer-Reviewer loop exhausted after 3 attempts", "No pull request was opened")
}

func needsInfo(w *world) {
	id, number := w.begin("needs info")
	_, d := w.until(id, in("blocked"))
	if p := d.Pipeline; p.Status != pipeline.Blocked || p.CurrentAgent != "reviewer" || p.BlockedReason != "the reviewer needs to know more - Who is greeted?" {
		w.Errorf("the run is %+v", p)
	}
	w.told(number, "the reviewer needs to know more", "Who is greeted?", "reply here")
	w.say(number, "The world.")
	i, _ := w.until(id, in("completed"))
	w.went(i, "triage analyst writer build reviewer blocked reviewer committer")
}

func question(w *world) {
	id, _ := w.begin("question")
	_, asked := w.until(id, func(i instance.Instance, _ pipeline.Document) bool {
		return i.State == "writer" && i.Worker() == "analyst"
	})
	if q := asked.Communication.Questions; len(q) != 2 || q[1].From != "writer" || q[1].To != "analyst" || q[1].Answered || asked.Pipeline.CurrentAgent != "writer" {
		w.Errorf("asked is %+v of %+v", q, asked.Pipeline)
	}
	i, d := w.until(id, in("completed"))
	w.went(i, way)
	if q := d.Communication.Questions; len(q) != 2 || !q[1].Answered || *q[1].Answer != "in French" || d.Pipeline.Attempt != 1 {
		w.Errorf("answered is %+v", q)
	}
	// What was begun before the question is there after the answer.
	if !d.Writer.TestWritten || len(d.Writer.Changes) != 2 {
		w.Errorf("the writer's section is %+v", d.Writer)
	}
	if got := w.file(d.Commit.Branch, "greeting"); got != "begun\nbonjour, in French\n" {
		w.Errorf("the greeting is %q", got)
	}
}

func escalation(w *world) {
	id, number := w.begin("escalation")
	_, d := w.until(id, func(i instance.Instance, _ pipeline.Document) bool { _, held := i.Escalation(); return held })
	if d.Pipeline.Status != pipeline.Blocked || d.Pipeline.BlockedReason != "It greets strangers" || d.Communication.Escalations[0] != (pipeline.Escalation{Agent: "reviewer", Reason: "It greets strangers", RequiresHuman: true}) {
		w.Errorf("the document is %+v", d)
	}
	w.told(number, "The reviewer asks for a person.", "It greets strangers")
	w.say(number, "It may.")
	i, d := w.until(id, in("completed"))
	w.went(i, way)
	if e := d.Communication.Escalations; len(e) != 1 || !e[0].Resolved || i.Escalations[0].By != "ann" {
		w.Errorf("the escalations are %+v", i.Escalations)
	}
}

func triageStops(w *world) {
	id, number := w.begin("triage stops")
	i, d := w.until(id, in("failed"))
	w.went(i, "triage")
	if d.Pipeline.FailureReason != "triage stops it - it is no report" || d.Triage.ShouldProceed || *d.Triage.RejectionReason != "it is no report" {
		w.Errorf("the document is %+v", d)
	}
	w.told(number, "triage stops it", "it is no report")
}

func forbidden(w *world) {
	id, _ := w.begin("forbidden")
	i, d := w.until(id, in("build"))
	for _, name := range []string{"analysis", "commit", "pipeline.status", "review.verdict"} {
		if !slices.ContainsFunc(i.Last.IssuesFound, func(s string) bool { return strings.HasPrefix(s, name+" ") }) {
			w.Errorf("%s is not refused by name: %q", name, i.Last.IssuesFound)
		}
	}
	if len(i.Last.IssuesFound) != 4 || d.Analysis.Brief != "Greet." || d.Review.Verdict != pipeline.NeedsInfo || d.Commit.Pushed || d.Pipeline.Attempt != 1 || d.Writer.Summary != "Greets, attempt 1" {
		w.Errorf("refused is %q, the document %+v", i.Last.IssuesFound, d)
	}
	i, _ = w.until(id, in("completed"))
	w.went(i, way)
}

func mustNot(w *world) {
	id, _ := w.begin("must not")
	i, d := w.until(id, in("completed"))
	w.went(i, "triage analyst writer writer build reviewer committer")
	if o := d.Learnings.Observations; len(o) != 1 || !strings.Contains(o[0].Content, "check.sh: the analysis says “Don't modify check.sh”") {
		w.Errorf("the writer heard %+v", o)
	}
	if got := w.file(d.Commit.Branch, "check.sh"); !strings.Contains(got, "wrong") {
		w.Errorf("check.sh is %q", got)
	}
}
