package app

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/localforge"
)

const widgets = forgetest.Repo

// env is a forge with one repository and one issue that bob reported, and a PM.
type env struct {
	*testing.T
	forge *forgetest.Forge
	ann   *github.Client // who may write
	bob   *github.Client // who may read
	issue instance.Issue
	store forgetest.Objects
	*handler

	mu       sync.Mutex
	progress []string
}

// newEnv starts an environment. Its work mostly waits for git and the disk, so the test
// runs in parallel with others.
func newEnv(t *testing.T) *env {
	t.Helper()
	t.Parallel()
	return newSecondEnv(t)
}

// newSecondEnv returns one more environment of the same test.
func newSecondEnv(t *testing.T) *env {
	t.Helper()
	w := &env{T: t, store: forgetest.Objects{}}
	w.forge = forgetest.Start(t, forgetest.Config{File: "sum.txt", Text: "5\n", Users: []localforge.User{
		forgetest.Bot(), forgetest.User("ann", "write"), forgetest.User("bob", ""), forgetest.User("eve", ""), forgetest.User("operator-eve", ""),
	}})
	w.ann, w.bob = w.forge.Client("ann"), w.forge.Client("bob")
	made, err := w.bob.CreateIssue(t.Context(), widgets, forge.NewIssue{Title: "The sum is wrong", Body: "It says 5."})
	if err != nil {
		t.Fatal(err)
	}
	w.issue = instance.Issue{Repo: widgets, Number: made.Number, Title: made.Title, Body: made.Body, Author: "bob", URL: made.URL}
	w.restart()
	return w
}

// restart replaces the PM by one without memory.
func (e *env) restart() {
	e.Helper()
	c, gate := e.forge.Side("signalbox", e.store, "acme/empty", "acme/nothing")
	e.handler = &handler{reader: c, writer: c, gate: gate, log: slog.New(slog.DiscardHandler), now: time.Now}
}

// job is the PM's work in the state.
func (e *env) job(state string) agent.Job {
	return agent.Job{
		Assignment: brain.Assignment{
			Instance: "acme/widgets/1", Workflow: "issue", Role: "pm", State: state, Attempt: 1, Issue: e.issue,
			Next: []string{"analyzing_requirements", "creating_pr"},
			Work: workOf(e, state),
		},
		Progress: func(format string, args ...any) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.progress = append(e.progress, fmt.Sprintf(format, args...))
		},
	}
}

// workOf is what the state asks of the PM.
func workOf(t testing.TB, state string) workflow.WorkSpec {
	t.Helper()
	def, err := workflow.Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	return def.WorkOf(state, "pm", false)
}

// done is work that ended without an error.
func (e *env) done(job agent.Job) instance.Result {
	e.Helper()
	r, err := e.Work(e.Context(), job)
	if err != nil {
		e.Fatalf("%s ended with %+v, %v", job.State, r, err)
	}
	return r
}

// solved is the work in creating_pr, when a developer has changed the file.
func (e *env) solved() agent.Job {
	e.Helper()
	taken := e.done(e.job("received"))
	job := e.job("creating_pr")
	job.Base, job.Head = taken.Base, taken.Base
	job.Bundles = []instance.Bundle{{Object: taken.Bundle, Head: taken.Base}}
	return e.further(job, "4\n")
}

// further is the job after one more change.
func (e *env) further(job agent.Job, text string) agent.Job {
	e.Helper()
	developer := forgetest.Workspace(e, e.store)
	tree, err := developer.Checkout(e.Context(), workspace.Spec{Repo: widgets, Bundles: forgeside.BundleObjects(job), Base: job.Base,
		Head: job.Head})
	if err != nil {
		e.Fatal(err)
	}
	defer func() { _ = tree.Close() }()
	forgetest.WriteFile(e.T, tree.Dir, "sum.txt", text)
	head, moved, err := tree.Commit(e.Context(), "Mend the sum")
	if err != nil || !moved {
		e.Fatal(moved, err)
	}
	bundle, err := tree.Bundle(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	job.Head = head
	job.Bundles = append(job.Bundles[:len(job.Bundles):len(job.Bundles)], instance.Bundle{Object: bundle, Head: head})
	return job
}

// said are the comments on the issue.
func (e *env) said() []forge.Comment {
	e.Helper()
	all, err := e.ann.Comments(e.Context(), widgets, e.issue.Number, time.Time{})
	if err != nil {
		e.Fatal(err)
	}
	return all
}

func (e *env) say(c *github.Client, body string) {
	e.Helper()
	if _, err := c.Comment(e.Context(), widgets, e.issue.Number, body); err != nil {
		e.Fatal(err)
	}
}
