package app

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/localforge"
)

const branch = "agent/issue-1"

func TestWhatIsApprovedBecomesOnePullRequestHoweverOftenItIsHandedIn(t *testing.T) {
	w := newEnv(t)
	job := w.approved()
	first, err := w.Work(w.Context(), job)
	if err != nil || first.Status != instance.Success {
		t.Fatalf("it ended with %+v, %v", first, err)
	}
	pr, err := w.ann.PullRequestByHead(w.Context(), widgets, branch)
	if err != nil || pr.HeadSHA != job.Head {
		t.Fatalf("the pull request is %+v, %v", pr, err)
	}
	for _, want := range []string{"Closes #1.", "> Adds what @ ann said.", "Mend the sum", "sum.txt"} {
		if !strings.Contains(pr.Body, want) {
			t.Errorf("no %q in\n%s", want, pr.Body)
		}
	}
	var s pipeline.Commit
	if err := json.Unmarshal([]byte(first.Sections["commit"]), &s); err != nil {
		t.Fatal(err)
	}
	if !s.Completed || !s.Pushed || !s.PRCreated || s.IssueClosed || *s.Hash != job.Head || *s.Message != "Mend the sum" || s.Branch != branch || *s.PRURL != pr.URL {
		t.Errorf("the section is %+v", s)
	}
	if first.Data["branch"] != branch || first.Data["pr_url"] != pr.URL || first.Data["pr_number"] != "2" {
		t.Errorf("the data are %v", first.Data)
	}
	w.restart()
	if again, err := w.Work(w.Context(), job); err != nil || again.Data["pr_url"] != pr.URL {
		t.Errorf("the second time it ended with %+v, %v", again, err)
	}
}

func TestAPullRequestWhoseAnswerWasLostIsFound(t *testing.T) {
	w := newEnv(t)
	job := w.approved()
	w.forge.FailRequests("POST", "/pulls", localforge.Fault{Status: 502, After: true})
	if r, err := w.Work(w.Context(), job); !errors.Is(err, brain.ErrInfrastructure) {
		t.Fatalf("it ended with %+v, %v", r, err)
	}
	w.forge.Recover()
	w.restart()
	if r, err := w.Work(w.Context(), job); err != nil || r.Data["pr_number"] != "2" {
		t.Errorf("it ended with %+v, %v", r, err)
	}
}

func TestNothingIsHandedInWithoutApproval(t *testing.T) {
	w := newEnv(t)
	job := w.approved()
	for _, verdict := range []string{`{"verdict": "REJECTED"}`, `{"verdict": "NEEDS_INFO"}`, `{}`} {
		job.Sections["review"] = json.RawMessage(verdict)
		if r, err := w.Work(w.Context(), job); err != nil || r.Status != instance.Blocked {
			t.Errorf("with %s it ended with %+v, %v", verdict, r, err)
		}
	}
	if pr, err := w.ann.PullRequestByHead(w.Context(), widgets, branch); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("there is %+v, %v", pr, err)
	}
	unchanged := w.approved()
	unchanged.Head = unchanged.Base
	if r, err := w.Work(w.Context(), unchanged); err != nil || r.Status != instance.Failure {
		t.Errorf("without a change it ended with %+v, %v", r, err)
	}
}

func TestWhatIsInTheWayIsPutToPeople(t *testing.T) {
	for name, put := range map[string]func(*testing.T, *env, *agent.Job){
		"another's branch": func(t *testing.T, w *env, job *agent.Job) {
			if _, err := w.Work(t.Context(), *job); err != nil {
				t.Fatal(err)
			}
			job.Head, job.Bundles = w.change(*job, "3\n") // not on top of what is there
		},
		"another's pull request": func(t *testing.T, w *env, job *agent.Job) {
			mine := *job
			mine.Instance = "acme/widgets/other"
			if _, err := w.Work(t.Context(), mine); err != nil {
				t.Fatal(err)
			}
		},
		"a forge that refuses the pull request": func(_ *testing.T, w *env, _ *agent.Job) {
			w.forge.FailRequests("POST", "/pulls", localforge.Fault{Status: 422})
		},
		"a repository that is gone": func(_ *testing.T, _ *env, job *agent.Job) { job.Issue.Repo = "acme/gone" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			job := w.approved()
			put(t, w, &job)
			plea := new(agent.ErrEscalate)
			if r, err := w.Work(t.Context(), job); !errors.As(err, &plea) || !plea.RequiresHuman || plea.Reason == "" {
				t.Errorf("it ended with %+v, %v", r, err)
			}
		})
	}
}

// The log is restored from before the pull request: the run begins again.
func TestAPullRequestThatTheLogDoesNotKnowIsPutToPeopleBeforeCodeIsBrought(t *testing.T) {
	w := newEnv(t)
	if _, err := w.Work(t.Context(), w.approved()); err != nil {
		t.Fatal(err)
	}
	w.restart()
	plea := new(agent.ErrEscalate)
	if r, err := w.Work(t.Context(), w.asked()); !errors.As(err, &plea) || !plea.RequiresHuman || !strings.Contains(plea.Reason, "is mine") {
		t.Errorf("it ended with %+v, %v", r, err)
	}
}

func TestWhoIsAskedBringsTheCode(t *testing.T) {
	w := newEnv(t)
	r, err := w.Work(w.Context(), w.asked())
	if err != nil || r.Base == "" || r.Bundle == "" || !strings.Contains(r.Summary, r.Base) {
		t.Fatalf("it ended with %+v, %v", r, err)
	}
	later := w.asked()
	later.Base, later.Head = r.Base, r.Base
	if again, err := w.Work(w.Context(), later); err != nil || again.Base != "" || !strings.Contains(again.Summary, r.Base) {
		t.Errorf("asked again it ended with %+v, %v", again, err)
	}
	nowhere := w.asked()
	nowhere.Issue.Repo = ""
	if r, err := w.Work(w.Context(), nowhere); err != nil || r.Status != instance.Blocked {
		t.Errorf("of no repository it ended with %+v, %v", r, err)
	}
}
