package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/forge/local"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/instance"
)

const widgets = "acme/widgets"

// memory is an object store.
type memory map[string][]byte

func (o memory) Put(_ context.Context, name string, r io.Reader) (err error) {
	o[name], err = io.ReadAll(r)
	return err
}

func (o memory) Get(_ context.Context, name string) (io.ReadCloser, error) {
	if b, ok := o[name]; ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	return nil, fmt.Errorf("%w: no object %s", brain.ErrInfrastructure, name)
}

// world is a forge with one repository, a git-manager, and a machine to work on.
type world struct {
	*testing.T
	*manager
	desk *workspace.Cache
}

func newWorld(t *testing.T) *world {
	t.Helper()
	f, err := local.Open(local.Config{Dir: t.TempDir(), Public: true, Users: []local.User{
		{Login: "signalbox", Token: "signalbox-token", Type: "Bot", Permission: "write"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(f.Handler())
	t.Cleanup(func() { h.Close(); _ = f.Close() })
	f.SetURL(h.URL)
	g := gittest.Repo(t)
	write(t, g.Dir(), "hello\n")
	gittest.Run(t, g, "checkout", "-q", "-b", "trunk")
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	if err := f.CreateRepo(t.Context(), widgets, g.Dir()); err != nil {
		t.Fatal(err)
	}
	c, err := github.New(github.Config{BaseURL: h.URL + "/api/v3/", Token: "signalbox-token"})
	if err != nil {
		t.Fatal(err)
	}
	store := memory{}
	w := &world{T: t, manager: &manager{forge: c, token: "signalbox-token"}}
	for _, to := range []**workspace.Cache{&w.manager.workspace, &w.desk} {
		if *to, err = workspace.New(workspace.Config{Dir: t.TempDir(), Objects: store}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func write(t testing.TB, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "greeting"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// begin is a task that has its code.
func (w *world) begin(id string, vars map[string]string) *agent.Job {
	w.Helper()
	job := &agent.Job{Assignment: brain.Assignment{Instance: id, Role: "git-manager", Issue: instance.Issue{Repo: widgets, Title: id}, Vars: vars}}
	job.Progress = func(string, ...any) {}
	w.asked(job)
	return job
}

// asked has the git-manager answer the engine.
func (w *world) asked(job *agent.Job) instance.Result {
	w.Helper()
	job.Question = &instance.Question{Number: 1, From: "orchestrator", To: "git-manager"}
	r := w.works(job)
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

func (w *world) works(job *agent.Job) instance.Result {
	w.Helper()
	r, err := w.Work(w.Context(), *job)
	if err != nil {
		w.Fatalf("%s: %v", job.Instance, err)
	}
	return r
}

// develop has the task's work be the text.
func (w *world) develop(job *agent.Job, text string) {
	w.Helper()
	tree, err := w.desk.Checkout(w.Context(), workspace.Spec{Repo: widgets, Base: job.Base, Head: job.Head, Bundles: forgeside.BundleObjects(*job)})
	if err != nil {
		w.Fatal(err)
	}
	defer tree.Close()
	write(w, tree.Dir, text)
	head, _, err := tree.Commit(w.Context(), "work")
	if err != nil {
		w.Fatal(err)
	}
	bundle, err := tree.Bundle(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	job.Head, job.Bundles = head, append(job.Bundles, instance.Bundle{Object: bundle, Head: head})
}

func TestWorkIsCommittedToItsBranchAndAgainWithoutHarm(t *testing.T) {
	w := newWorld(t)
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
	w := newWorld(t)
	b := w.begin("plan/B", map[string]string{"builds_on": "plan/A,plan/gone"})
	a := w.begin("plan/A", nil)
	w.develop(a, "hello, A\n")
	w.works(a)
	r := w.asked(b)
	if r.Status != instance.Success || b.Head != a.Head || r.Data["starts_at"] != a.Head || !strings.Contains(r.Summary, "there is no branch signalbox/task-plan-gone") {
		t.Errorf("%+v, want it to start at %s", r, a.Head)
	}
}

func TestWorkThatConflictsIsNotCommittedBeforeSomebodyChose(t *testing.T) {
	w := newWorld(t)
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
	w := newWorld(t)
	job := &agent.Job{Assignment: brain.Assignment{Instance: "x", Question: &instance.Question{}}}
	if r := w.works(job); r.Status != instance.Blocked || !strings.Contains(r.Summary, "names no repository") {
		t.Errorf("%+v", r)
	}
}
