package app

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

const widgets = forgetest.Repo

// env is a forge with one repository, a git-manager, and the workspace of a developer.
type env struct {
	*testing.T
	*manager
	developer *workspace.Cache
}

func newEnv(t *testing.T) *env {
	t.Helper()
	f := forgetest.Start(t, forgetest.Config{File: "greeting", Text: "hello\n", Users: []localforge.User{forgetest.Bot()}})
	store := forgetest.Objects{}
	w := &env{T: t, developer: forgetest.Workspace(t, store)}
	c, gate := f.Side("signalbox", store)
	w.manager = &manager{forge: c, gate: gate}
	return w
}

// begin is a task that has its code.
func (e *env) begin(id string, vars map[string]string) *agent.Job {
	e.Helper()
	job := &agent.Job{Assignment: brain.Assignment{Instance: id, Role: "git-manager", Issue: instance.Issue{Repo: widgets, Title: id},
		Vars: vars}}
	job.Progress = func(string, ...any) {}
	e.asked(job)
	return job
}

// asked has the git-manager answer the engine.
func (e *env) asked(job *agent.Job) instance.Result {
	e.Helper()
	job.Question = &instance.Question{Number: 1, From: "orchestrator", To: "git-manager"}
	r := e.works(job)
	if job.Question = nil; r.Base != "" {
		job.Base, job.Head = r.Base, r.Base
	}
	if r.Head != "" {
		job.Head = r.Head
	}
	if r.Bundle != "" {
		job.Bundles = append(job.Bundles, instance.Bundle{Object: r.Bundle, Head: job.Head})
	}
	return r
}

func (e *env) works(job *agent.Job) instance.Result {
	e.Helper()
	r, err := e.Work(e.Context(), *job)
	if err != nil {
		e.Fatalf("%s: %v", job.Instance, err)
	}
	return r
}

// develop has the task's work be the text.
func (e *env) develop(job *agent.Job, text string) {
	e.Helper()
	tree, err := e.developer.Checkout(e.Context(),
		workspace.Spec{Repo: widgets, Base: job.Base, Head: job.Head, Bundles: forgeside.BundleObjects(*job)})
	if err != nil {
		e.Fatal(err)
	}
	defer tree.Close()
	forgetest.WriteFile(e, tree.Dir, "greeting", text)
	head, _, err := tree.Commit(e.Context(), "work")
	if err != nil {
		e.Fatal(err)
	}
	bundle, err := tree.Bundle(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	job.Head, job.Bundles = head, append(job.Bundles, instance.Bundle{Object: bundle, Head: head})
}

func TestWorkIsCommittedToItsBranchAndAgainWithoutHarm(t *testing.T) {
	w := newEnv(t)
	job := w.begin("plan/A", nil)
	if r := w.works(job); r.Status != instance.Failure || r.Summary != "there is nothing to commit" {
		t.Errorf("no work: %+v", r)
	}
	w.develop(job, "hello, A\n")
	for range 2 {
		if r := w.works(job); r.Status != instance.Success || r.Data["branch"] != "signalbox/task-plan-A" || r.Data["commit"] != job.Head {
			t.Errorf("%+v", r)
		}
	}
}

func TestATaskStartsWithTheWorkOfThoseItBuildsOn(t *testing.T) {
	w := newEnv(t)
	b := w.begin("plan/B", map[string]string{"builds_on": "plan/A,plan/gone"})
	a := w.begin("plan/A", nil)
	w.develop(a, "hello, A\n")
	w.works(a)
	r := w.asked(b)
	if r.Status != instance.Success || b.Head != a.Head || r.Data["starts_at"] != a.Head ||
		!strings.Contains(r.Summary, "there is no branch signalbox/task-plan-gone") {
		t.Errorf("%+v, want it to start at %s", r, a.Head)
	}
}

func TestWorkThatConflictsIsNotCommittedBeforeSomebodyChose(t *testing.T) {
	w := newEnv(t)
	c := w.begin("plan/C", map[string]string{"builds_on": "plan/A,plan/B"})
	for _, id := range []string{"plan/A", "plan/B"} {
		job := w.begin(id, nil)
		w.develop(job, "hello, "+id+"\n")
		w.works(job)
	}
	if r := w.asked(c); r.Status != instance.Success || !strings.Contains(r.Summary, "they conflict in greeting") {
		t.Errorf("%+v, want a conflict", r)
	}
	if r := w.works(c); r.Status != instance.Failure || !strings.Contains(r.Summary, "marks of conflicts in greeting:1") {
		t.Errorf("%+v, want it not committed", r)
	}
	w.develop(c, "hello, both\n")
	if r := w.works(c); r.Status != instance.Success {
		t.Errorf("%+v, want it committed", r)
	}
}

func TestATaskWithoutARepositoryHasNoCode(t *testing.T) {
	w := newEnv(t)
	job := &agent.Job{Assignment: brain.Assignment{Instance: "x", Question: &instance.Question{}}}
	if r := w.works(job); r.Status != instance.Blocked || !strings.Contains(r.Summary, "names no repository") {
		t.Errorf("%+v", r)
	}
}
