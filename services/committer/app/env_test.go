package app

import (
	"encoding/json"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/localforge"
)

const widgets = forgetest.Repo

// env is a forge with one repository and one issue, and a committer.
type env struct {
	*testing.T
	forge *forgetest.Forge
	ann   *github.Client
	issue instance.Issue
	store forgetest.Objects
	*committer
}

func newEnv(t *testing.T) *env {
	t.Helper()
	w := &env{T: t, store: forgetest.Objects{}}
	w.forge = forgetest.Start(t, forgetest.Config{
		File: "sum.txt", Text: "5\n", Users: []localforge.User{forgetest.Bot(), forgetest.User("ann", "write")},
	})
	w.ann = w.forge.Client("ann")
	made, err := w.ann.CreateIssue(t.Context(), widgets, forge.NewIssue{Title: "The sum is wrong", Body: "It says 5."})
	if err != nil {
		t.Fatal(err)
	}
	w.issue = instance.Issue{Repo: widgets, Number: made.Number, Title: made.Title, Body: made.Body, URL: made.URL}
	w.restart()
	return w
}

// restart replaces the committer by one without memory.
func (e *env) restart() {
	e.Helper()
	c, gate := e.forge.Side("signalbox", e.store)
	e.committer = &committer{c, gate}
}

func (e *env) job(state string) agent.Job {
	return agent.Job{
		Assignment: brain.Assignment{Instance: "acme/widgets/1", Workflow: "pipeline", Role: "committer", State: state, Issue: e.issue,
			Writes: []string{"commit"}},
		Progress: func(string, ...any) {},
	}
}

// asked is the question which commit the work starts from.
func (e *env) asked() agent.Job {
	job := e.job("triage")
	job.Question = &instance.Question{Number: 1, From: "triage", To: "committer", Text: "Which commit?"}
	return job
}

// approved is a change that the reviewer has approved.
func (e *env) approved() agent.Job {
	e.Helper()
	brought, err := e.Work(e.Context(), e.asked())
	if err != nil {
		e.Fatal(err)
	}
	job := e.job("committer")
	job.Base, job.Bundles = brought.Base, []instance.Bundle{{Object: brought.Bundle, Head: brought.Base}}
	job.Sections = map[string]json.RawMessage{
		"review": json.RawMessage(`{"verdict": "APPROVED"}`), "writer": json.RawMessage(`{"summary": "Adds what @ann said."}`),
	}
	job.Head, job.Bundles = e.change(job, "4\n")
	return job
}

// change is the job's head and bundles after a change from its base.
func (e *env) change(job agent.Job, text string) (string, []instance.Bundle) {
	e.Helper()
	tree, err := forgetest.Workspace(e, e.store).Checkout(e.Context(),
		workspace.Spec{Repo: widgets, Bundles: forgeside.BundleObjects(job)[:1], Base: job.Base})
	if err != nil {
		e.Fatal(err)
	}
	defer func() { _ = tree.Close() }()
	forgetest.WriteFile(e, tree.Dir, "sum.txt", text)
	head, _, err := tree.Commit(e.Context(), "Mend the sum")
	if err != nil {
		e.Fatal(err)
	}
	bundle, err := tree.Bundle(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	return head, []instance.Bundle{job.Bundles[0], {Object: bundle, Head: head}}
}
