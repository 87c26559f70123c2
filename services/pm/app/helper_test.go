package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/forge/local"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
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

// world is a forge with one repository and one issue that bob reported, and a PM.
type world struct {
	*testing.T
	forge *local.Forge
	url   string // of the forge's REST
	fault atomic.Pointer[func(*http.Request) *local.Fault]
	ann   *github.Client // who may write
	bob   *github.Client // who may read
	issue instance.Issue
	store memory
	*handler

	mu       sync.Mutex
	progress []string
}

// Much of what is done there is waiting for git and the disk, so the test runs
// beside others.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return another(t)
}

// another is one more world of the same test.
func another(t *testing.T) *world {
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
			{Login: "signalbox", Token: "signalbox-token", Type: "Bot", Permission: "write"},
			{Login: "ann", Token: "ann-token", Permission: "write"}, {Login: "bob", Token: "bob-token"}, {Login: "eve", Token: "eve-token"},
			{Login: "operator-eve", Token: "operator-eve-token"},
		}})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(f.Handler())
	t.Cleanup(func() { h.Close(); _ = f.Close() })
	f.SetURL(h.URL)
	w.forge, w.url = f, h.URL+"/api/v3/"
	g := gittest.Repo(t)
	source := g.Dir()
	write(t, source, "sum.txt", "5\n")
	gittest.Run(t, g, "checkout", "-q", "-b", "trunk")
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	if err := f.CreateRepo(t.Context(), widgets, source); err != nil {
		t.Fatal(err)
	}
	w.ann, w.bob = w.as("ann"), w.as("bob")
	made, err := w.bob.CreateIssue(t.Context(), widgets, forge.NewIssue{Title: "The sum is wrong", Body: "It says 5."})
	if err != nil {
		t.Fatal(err)
	}
	w.issue = instance.Issue{Repo: widgets, Number: made.Number, Title: made.Title, Body: made.Body, Author: "bob", URL: made.URL}
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

// restart has another PM work, which remembers nothing.
func (w *world) restart() {
	w.Helper()
	cache, err := workspace.New(workspace.Config{Dir: w.TempDir(), Objects: w.store})
	if err != nil {
		w.Fatal(err)
	}
	c := w.as("signalbox")
	w.handler = &handler{reader: c, writer: c, workspace: cache, token: "signalbox-token", log: slog.New(slog.DiscardHandler)}
}

// breaks has the requests go wrong that the method and the path fit.
func (w *world) breaks(method, path string, f local.Fault) {
	fault := func(r *http.Request) *local.Fault {
		if (method == "" || r.Method == method) && strings.Contains(r.URL.Path, path) {
			return &f
		}
		return nil
	}
	w.fault.Store(&fault)
}

func (w *world) mends() { w.fault.Store(nil) }

// job is the PM's work in the state.
func (w *world) job(state string) agent.Job {
	return agent.Job{
		Assignment: brain.Assignment{
			Instance: "acme/widgets/1", Workflow: "issue", Role: "pm", State: state, Attempt: 1, Issue: w.issue,
			Next: []string{"analyzing_requirements", "creating_pr"},
			Work: workOf(w, state),
		},
		Progress: func(format string, args ...any) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.progress = append(w.progress, fmt.Sprintf(format, args...))
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
func (w *world) done(job agent.Job) instance.Result {
	w.Helper()
	r, err := w.Work(w.Context(), job)
	if err != nil {
		w.Fatalf("%s ended with %+v, %v", job.State, r, err)
	}
	return r
}

// solved is the work in creating_pr, when a developer has changed the file.
func (w *world) solved() agent.Job {
	w.Helper()
	taken := w.done(w.job("received"))
	job := w.job("creating_pr")
	job.Base, job.Head = taken.Base, taken.Base
	job.Bundles = []instance.Bundle{{Object: taken.Bundle, Head: taken.Base}}
	return w.further(job, "4\n")
}

// further is the job after one more change.
func (w *world) further(job agent.Job, text string) agent.Job {
	w.Helper()
	developer, err := workspace.New(workspace.Config{Dir: w.TempDir(), Objects: w.store})
	if err != nil {
		w.Fatal(err)
	}
	tree, err := developer.Checkout(w.Context(), workspace.Spec{Repo: widgets, Bundles: forgeside.BundleObjects(job), Base: job.Base, Head: job.Head})
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = tree.Close() }()
	write(w.T, tree.Dir, "sum.txt", text)
	head, moved, err := tree.Commit(w.Context(), "Mend the sum")
	if err != nil || !moved {
		w.Fatal(moved, err)
	}
	bundle, err := tree.Bundle(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	job.Head = head
	job.Bundles = append(job.Bundles[:len(job.Bundles):len(job.Bundles)], instance.Bundle{Object: bundle, Head: head})
	return job
}

// said are the comments on the issue.
func (w *world) said() []forge.Comment {
	w.Helper()
	all, err := w.ann.Comments(w.Context(), widgets, w.issue.Number, time.Time{})
	if err != nil {
		w.Fatal(err)
	}
	return all
}

func (w *world) say(c *github.Client, body string) {
	w.Helper()
	if _, err := c.Comment(w.Context(), widgets, w.issue.Number, body); err != nil {
		w.Fatal(err)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
