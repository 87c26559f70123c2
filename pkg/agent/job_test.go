package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// told keeps what a handler was given and what an observer was told.
type told struct {
	started  chan agent.Job
	progress chan string
}

func (o told) Started(job agent.Job)                                  { o.started <- job }
func (o told) Progressed(job agent.Job, text string)                  { o.progress <- job.Instance + ": " + text }
func (o told) Ended(agent.Job, instance.Result, error, time.Duration) {}

func TestAHandlerIsGivenAllThatIsKnownOfItsWork(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	issue := instance.Issue{Repo: "acme/widgets", Number: 42, Title: "It is broken", Body: "Please fix.", Labels: []string{"bug"}, Author: "ann", URL: "https://forge/42"}
	if _, err := w.client.Do(w.ctx, "open", &pb.Command{Instance: "a", Action: &pb.Command_Open{Open: &pb.Open{
		Workflow: "issue", Base: "c0ffee", Bundle: "git/base", Issue: &pb.Issue{Repo: issue.Repo, Number: 42, Title: issue.Title, Body: issue.Body, Labels: issue.Labels, Author: "ann", Url: issue.URL},
	}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.Note(w.ctx, "a", "comment", "See also 41."); err != nil {
		t.Fatal(err)
	}
	results := map[string]instance.Result{
		"received":               success(),
		"analyzing_requirements": {Status: instance.Success, ConfidenceScore: 0.4, Questions: []string{"Which version?", "On what system?"}},
		"requirements_unclear":   success(),
		"requirements_clarified": {Status: instance.Success, ConfidenceScore: 1, Answers: []instance.QuestionAnswer{{Question: 1, Text: "1.2", By: "ann"}}},
	}
	o := told{started: make(chan agent.Job, 100), progress: make(chan string, 100)}
	handler := works(func(_ context.Context, job agent.Job) (instance.Result, error) {
		job.Progress("in %s", job.State)
		r := results[job.State]
		if job.State == "analyzing_requirements" && job.Attempt > 1 {
			r = instance.Result{Status: instance.Failure}
		}
		return r, nil
	})
	w.agent("pm-1", handler, func(c *agent.Config) { c.Observer = o })
	w.agent("analyst-1", handler, func(c *agent.Config) { c.Role, c.Observer = "analyst", o })
	w.until("a", to("waiting_for_requirements_clarification"))
	if _, err := w.client.Signal(w.ctx, "a", "commented", "comment/1", "ann", map[string]string{"body": "1.2"}); err != nil {
		t.Fatal(err)
	}
	var jobs []agent.Job
	for job := range take(w, o.started) {
		if jobs = append(jobs, job); len(jobs) == 5 {
			break
		}
	}
	for i, state := range []string{"received", "analyzing_requirements", "requirements_unclear", "requirements_clarified", "analyzing_requirements"} {
		job := jobs[i]
		if job.State != state || job.Instance != "a" || job.Workflow != "issue" || job.Protocol != brain.Protocol || job.Agent != job.Role+"-1" || job.Token == 0 || job.About == "" ||
			job.Iteration != i+min(i/3, 1) || job.Base != "c0ffee" || job.Head != "c0ffee" || job.Policy["confidence_threshold"] != "0.85" {
			t.Errorf("job %d is %+v, want one in %s", i, job, state)
		}
		if job.Issue.Title != issue.Title || job.Issue.Number != 42 || !slices.Equal(job.Issue.Labels, issue.Labels) || len(job.Bundles) != 1 || job.Bundles[0].Object != "git/base" {
			t.Errorf("job %d has the issue %+v and the bundles %v", i, job.Issue, job.Bundles)
		}
		if want := []string{"take_up", "", "ask_questions", "read_answers", ""}[i]; job.Work.Does != want {
			t.Errorf("job %d is to do %q, want %q", i, job.Work.Does, want)
		}
		if want := fmt.Sprintf("a: in %s", state); next(w, o.progress) != want {
			t.Errorf("no progress in %s", state)
		}
	}
	if jobs[0].Last != nil || jobs[1].Last == nil || len(jobs[0].Warnings) != 0 {
		t.Errorf("the first has %+v to go by and is warned %q, the second has %+v", jobs[0].Last, jobs[0].Warnings, jobs[1].Last)
	}
	if jobs[1].Attempt != 1 || jobs[4].Attempt != 2 {
		t.Errorf("the analyst's attempts are %d and %d", jobs[1].Attempt, jobs[4].Attempt)
	}
	if n := jobs[4].Notes; len(n) != 2 || n[0].Text != "See also 41." || n[1].Author != "ann" {
		t.Errorf("the notes are %+v", n)
	}
	if open := jobs[4].Open(); len(jobs[4].Questions) != 2 || len(open) != 1 || open[0].Number != 2 || len(jobs[2].Open()) != 2 {
		t.Errorf("open is %+v of %+v", open, jobs[4].Questions)
	}
}

// to stops at the move to a state.
func to(state string) func(instance.Event) bool {
	return func(e instance.Event) bool { m, ok := e.(instance.Moved); return ok && m.To == state }
}

func TestAHandlerIsWarnedOfALoop(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	w.open("a")
	seen := make(chan []string, 100)
	w.agent("dev-1", works(func(_ context.Context, job agent.Job) (instance.Result, error) {
		seen <- job.Warnings
		return instance.Result{Status: instance.Failure, Summary: "no"}, nil
	}), func(c *agent.Config) { c.Role = "developer" })
	if _, err := w.client.Override(w.ctx, "a", "implementing", "straight to it"); err != nil {
		t.Fatal(err)
	}
	for warnings := range take(w, seen) {
		if len(warnings) > 0 {
			if !strings.HasPrefix(warnings[0], "loop: ") || !strings.Contains(warnings[0], "fixing_issues") {
				t.Errorf("the warning is %q", warnings[0])
			}
			return
		}
	}
}
