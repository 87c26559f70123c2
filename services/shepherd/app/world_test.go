package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/forge/local"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

const widgets = "acme/widgets"

// world is a forge, a log, an orchestrator, a shepherd and a scripted developer.
type world struct {
	*testing.T
	ctx    context.Context
	client *client.Client
	server *natstest.Server
	forge  *local.Forge
	url    string // of the forge
	fault  atomic.Pointer[func(*http.Request) *local.Fault]

	workflow string

	ann, bob, eve person // two who may write, and one who may not

	mu      sync.Mutex
	develop func(agent.Job) change // what the developer does
	asked   []string               // questions put to it
	merges  int                    // calls that merge
	late    []agent.Job            // claims of the shepherd, in order
	claimed func()                 // called when it begins
}

// newWorld starts a world. policy is what its stories' lifecycle has otherwise.
// Much of what is done there is waiting for git and the disk, so the test runs
// beside others.
func newWorld(t *testing.T, policy ...string) *world {
	t.Helper()
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	w := &world{T: t, ctx: ctx, server: natstest.Start(t, natstest.Options{})}
	settings := orchestratortest.Settings{AckWait: 10 * time.Second}
	if w.workflow = "story"; policy != nil {
		w.workflow, settings.WorkflowDir = "story-here", t.TempDir()
		write(t, settings.WorkflowDir, "story-here.yaml", "workflow: story-here\nversion: 1\nextends: story\npolicy: {"+strings.Join(policy, ", ")+"}\n")
	}
	orchestratortest.Start(t, w.server.URL, 1, settings)
	w.client = client.New(w.server.Connect(t), "operator:test")
	w.openForge()
	w.develop = func(job agent.Job) change {
		file := strings.TrimPrefix(job.Instance, widgets+"/")
		if q := job.Question; q != nil {
			return change{file: fmt.Sprintf("%s-%d.txt", file, q.Number), text: q.Text, says: "I did what was asked."}
		}
		return change{file: file + ".txt", text: "hello\n"}
	}
	w.staff()
	return w
}

// openForge starts a forge with one repository, whose work is on trunk.
func (w *world) openForge() {
	w.Helper()
	f, err := local.Open(local.Config{Dir: w.TempDir(), Public: true,
		Fault: func(r *http.Request) *local.Fault {
			if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/merge") {
				w.mu.Lock()
				w.merges++
				w.mu.Unlock()
			}
			if fault := w.fault.Load(); fault != nil {
				return (*fault)(r)
			}
			return nil
		},
		Users: []local.User{
			{Login: "signalbox", Token: "signalbox-token", Type: "Bot", Permission: "write"},
			{Login: "ann", Token: "ann-token", Permission: "admin", Organisations: []string{"acme"}},
			{Login: "bob", Token: "bob-token", Permission: "write"},
			{Login: "eve", Token: "eve-token"},
		}})
	if err != nil {
		w.Fatal(err)
	}
	h := httptest.NewServer(f.Handler())
	w.Cleanup(func() { h.Close(); _ = f.Close() })
	f.SetURL(h.URL)
	w.forge, w.url = f, h.URL
	g := gittest.Repo(w.T)
	write(w.T, g.Dir(), "README.md", "# Widgets\n")
	gittest.Run(w.T, g, "checkout", "-q", "-b", "trunk")
	gittest.Run(w.T, g, "add", "-A")
	gittest.Run(w.T, g, "commit", "-q", "-m", "first")
	if err := f.CreateRepo(w.ctx, widgets, g.Dir()); err != nil {
		w.Fatal(err)
	}
	w.ann, w.bob, w.eve = person{w, "ann"}, person{w, "bob"}, person{w, "eve"}
}

// staff has a shepherd and a developer work until the test ends.
func (w *world) staff() {
	w.Helper()
	js := w.server.JetStream(w.T)
	objects, err := role.Bucket(w.ctx, js)
	if err != nil {
		w.Fatal(err)
	}
	c, err := github.New(github.Config{BaseURL: w.url, Token: "signalbox-token"})
	if err != nil {
		w.Fatal(err)
	}
	s := &shepherd{forge: c, workspace: w.cache(objects), token: "signalbox-token", now: time.Now}
	w.work(js, "shepherd", noting{w, s})
	w.work(js, "developer", developer{w, w.cache(objects)})
}

func (w *world) cache(objects agent.Objects) *workspace.Cache {
	w.Helper()
	c, err := workspace.New(workspace.Config{Dir: w.TempDir(), Objects: objects})
	if err != nil {
		w.Fatal(err)
	}
	return c
}

func (w *world) work(js jetstream.JetStream, role string, h agent.Handler) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	a := agent.New(agent.Config{
		Role: role, Name: role + "-1", JetStream: js, Client: client.New(w.server.Connect(w.T), role+"-1"), Handler: h,
		Log: slog.New(slog.DiscardHandler),
	})
	go func() { ended <- a.Run(ctx) }()
	w.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			w.Errorf("the %s ended with %v", role, err)
		}
	})
}

// heard are the questions that the developer was asked.
func (w *world) heard() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// merged counts the calls that merge.
func (w *world) merged() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.merges
}

// does has the developer do something else.
func (w *world) does(develop func(agent.Job) change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.develop = develop
}

// breaks has the requests go wrong that the method and the end of the path fit.
func (w *world) breaks(method, path string, f local.Fault) {
	fault := func(r *http.Request) *local.Fault {
		if r.Method == method && strings.HasSuffix(r.URL.Path, path) {
			return &f
		}
		return nil
	}
	w.fault.Store(&fault)
}

func (w *world) mends() { w.fault.Store(nil) }

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
