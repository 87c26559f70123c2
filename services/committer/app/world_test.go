package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge"
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

// world is a forge with one repository and one issue, and a committer.
type world struct {
	*testing.T
	fault atomic.Pointer[func(*http.Request) *local.Fault]
	url   string // of the forge's REST
	ann   *github.Client
	issue instance.Issue
	store memory
	*committer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, store: memory{}}
	f, err := local.Open(local.Config{Dir: t.TempDir(), Public: true,
		Fault: func(r *http.Request) *local.Fault {
			if fault := w.fault.Load(); fault != nil {
				return (*fault)(r)
			}
			return nil
		},
		Users: []local.User{
			{Login: "signalbox", Token: "signalbox-token", Type: "Bot", Permission: "write"}, {Login: "ann", Token: "ann-token", Permission: "write"},
		}})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(f.Handler())
	t.Cleanup(func() { h.Close(); _ = f.Close() })
	f.SetURL(h.URL)
	w.url = h.URL + "/api/v3/"
	g := gittest.Repo(t)
	w.write(g.Dir(), "5\n")
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	if err := f.CreateRepo(t.Context(), widgets, g.Dir()); err != nil {
		t.Fatal(err)
	}
	w.ann = w.as("ann")
	made, err := w.ann.CreateIssue(t.Context(), widgets, forge.NewIssue{Title: "The sum is wrong", Body: "It says 5."})
	if err != nil {
		t.Fatal(err)
	}
	w.issue = instance.Issue{Repo: widgets, Number: made.Number, Title: made.Title, Body: made.Body, URL: made.URL}
	w.restart()
	return w
}

func (w *world) as(login string) *github.Client {
	w.Helper()
	c, err := github.New(github.Config{BaseURL: w.url, Token: login + "-token"})
	if err != nil {
		w.Fatal(err)
	}
	return c
}

func (w *world) write(dir, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(dir, "sum.txt"), []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

// cache is another machine's: it shares the object store alone.
func (w *world) cache() *workspace.Cache {
	w.Helper()
	cache, err := workspace.New(workspace.Config{Dir: w.TempDir(), Objects: w.store})
	if err != nil {
		w.Fatal(err)
	}
	return cache
}

// restart has another committer work, which remembers nothing.
func (w *world) restart() {
	w.Helper()
	c := w.as("signalbox")
	w.committer = &committer{c, w.cache(), "signalbox-token"}
}

// breaks has the requests go wrong that the method and the path fit.
func (w *world) breaks(method, path string, f local.Fault) {
	fault := func(r *http.Request) *local.Fault {
		if r.Method == method && strings.Contains(r.URL.Path, path) {
			return &f
		}
		return nil
	}
	w.fault.Store(&fault)
}

func (w *world) job(state string) agent.Job {
	return agent.Job{
		Assignment: brain.Assignment{Instance: "acme/widgets/1", Workflow: "pipeline", Role: "committer", State: state, Issue: w.issue, Writes: []string{"commit"}},
		Progress:   func(string, ...any) {},
	}
}

// asked is the question which commit the work starts from.
func (w *world) asked() agent.Job {
	job := w.job("triage")
	job.Question = &instance.Question{Number: 1, From: "triage", To: "committer", Text: "Which commit?"}
	return job
}

// approved is a change that the reviewer has approved.
func (w *world) approved() agent.Job {
	w.Helper()
	brought, err := w.Work(w.Context(), w.asked())
	if err != nil {
		w.Fatal(err)
	}
	job := w.job("committer")
	job.Base, job.Bundles = brought.Base, []instance.Bundle{{Object: brought.Bundle, Head: brought.Base}}
	job.Sections = map[string]json.RawMessage{
		"review": json.RawMessage(`{"verdict": "APPROVED"}`), "writer": json.RawMessage(`{"summary": "Adds what @ann said."}`),
	}
	job.Head, job.Bundles = w.change(job, "4\n")
	return job
}

// change is the job's head and bundles after a change from its base.
func (w *world) change(job agent.Job, text string) (string, []instance.Bundle) {
	w.Helper()
	tree, err := w.cache().Checkout(w.Context(), workspace.Spec{Repo: widgets, Bundles: forgeside.BundleObjects(job)[:1], Base: job.Base})
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = tree.Close() }()
	w.write(tree.Dir, text)
	head, _, err := tree.Commit(w.Context(), "Mend the sum")
	if err != nil {
		w.Fatal(err)
	}
	bundle, err := tree.Bundle(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return head, []instance.Bundle{job.Bundles[0], {Object: bundle, Head: head}}
}
