package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/local"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

const widgets = forgetest.Repo

// env is a forge, a log, an orchestrator, a shepherd and a scripted developer.
type env struct {
	*testing.T
	ctx    context.Context
	client *client.Client
	server *natstest.Server
	forge  *forgetest.Forge

	workflow string

	ann, bob, eve person // two who may write, and one who may not

	mu      sync.Mutex
	develop func(agent.Job) change // what the developer does
	asked   []string               // questions put to it
	merges  int                    // calls that merge
	late    []agent.Job            // claims of the shepherd, in order
	claimed func()                 // called when it begins
}

// newEnv starts an environment. The policy changes that of its stories' lifecycle. Its
// work mostly waits for git and the disk, so the test runs in parallel with others.
func newEnv(t *testing.T, policy ...string) *env {
	t.Helper()
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	w := &env{T: t, ctx: ctx, server: natstest.Start(t, natstest.Options{})}
	settings := orchestratortest.Settings{AckWait: 10 * time.Second}
	if w.workflow = "story"; policy != nil {
		w.workflow, settings.WorkflowDir = "story-here", t.TempDir()
		forgetest.WriteFile(t, settings.WorkflowDir, "story-here.yaml",
			"workflow: story-here\nversion: 1\nextends: story\npolicy: {"+strings.Join(policy, ", ")+"}\n")
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
	w.startAgents()
	return w
}

// openForge starts a forge with one repository, whose work is on trunk.
func (w *env) openForge() {
	w.Helper()
	w.forge = forgetest.Start(w, forgetest.Config{
		File: "README.md", Text: "# Widgets\n",
		Users: []local.User{
			forgetest.Bot(), {Login: "ann", Token: forgetest.Token("ann"), Permission: "admin", Organisations: []string{"acme"}},
			forgetest.User("bob", "write"), forgetest.User("eve", ""),
		},
		Forge: func(c *local.Config) {
			fault := c.Fault
			c.Fault = func(r *http.Request) *local.Fault {
				if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/merge") {
					w.mu.Lock()
					w.merges++
					w.mu.Unlock()
				}
				return fault(r)
			}
		},
	})
	w.ann, w.bob, w.eve = person{w, "ann"}, person{w, "bob"}, person{w, "eve"}
}

// startAgents has a shepherd and a developer work until the test ends.
func (w *env) startAgents() {
	w.Helper()
	js := w.server.JetStream(w.T)
	objects, err := role.Bucket(w.ctx, js)
	if err != nil {
		w.Fatal(err)
	}
	c, gate := w.forge.Side("signalbox", objects)
	s := &shepherd{forge: c, gate: gate, now: time.Now}
	w.work(js, "shepherd", noting{w, s})
	w.work(js, "developer", developer{w, forgetest.Workspace(w, objects)})
}

func (w *env) work(js jetstream.JetStream, role string, h agent.Handler) {
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
func (w *env) heard() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// merged counts the calls that merge.
func (w *env) merged() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.merges
}

// does has the developer do something else.
func (w *env) does(develop func(agent.Job) change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.develop = develop
}

// failRequests makes the requests fail that have the method and end of the path.
func (w *env) failRequests(method, path string, f local.Fault) {
	w.forge.Fail(func(r *http.Request) *local.Fault {
		if r.Method == method && strings.HasSuffix(r.URL.Path, path) {
			return &f
		}
		return nil
	})
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
