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
	"github.com/signalbox/signalbox/pkg/agent/host"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/localforge"
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
	attests  bool // the orchestrator signs statements on what is pushed

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
	return newEnvAt(t, nil, policy...)
}

// newEnvAt is newEnv with a clock of the forge; nil is time.Now.
func newEnvAt(t *testing.T, now func() time.Time, policy ...string) *env {
	t.Helper()
	return newEnvOf(t, func(c *localforge.Config) { c.Now = now }, policy...)
}

// newEnvOf is newEnv with a forge of its own settings.
func newEnvOf(t *testing.T, forge func(*localforge.Config), policy ...string) *env {
	t.Helper()
	return newEnvWith(t, forge, nil, policy...)
}

// newEnvWith is newEnvOf with other policies of the lifecycle merge-watch.
func newEnvWith(t *testing.T, forge func(*localforge.Config), watch []string, policy ...string) *env {
	t.Helper()
	return newEnvSigning(t, "", forge, watch, policy...)
}

// newEnvSigning is newEnvWith with a key that signs attestations.
func newEnvSigning(t *testing.T, key string, forge func(*localforge.Config), watch []string, policy ...string) *env {
	t.Helper()
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	w := &env{T: t, ctx: ctx, server: natstest.Start(t, natstest.Options{}), attests: key != ""}
	settings := orchestratortest.Settings{AckWait: 10 * time.Second, AttestKey: key}
	if !slices.ContainsFunc(policy, func(p string) bool { return strings.HasPrefix(p, "check_every:") }) {
		policy = append(slices.Clone(policy), "check_every: 1h") // a look by the clock moves the story of a slow test
	}
	w.workflow, settings.WorkflowDir = "story-here", t.TempDir()
	forgetest.WriteFile(t, settings.WorkflowDir, "story-here.yaml",
		"workflow: story-here\nversion: 1\nextends: story\npolicy: {"+strings.Join(policy, ", ")+"}\n")
	if watch != nil {
		forgetest.WriteFile(t, settings.WorkflowDir, "merge-watch.yaml",
			"workflow: merge-watch\nversion: 1\nextends: merge-watch\npolicy: {"+strings.Join(watch, ", ")+"}\n")
	}
	orchestratortest.Start(t, w.server.URL, 1, settings)
	w.client = client.New(w.server.Connect(t), "operator:test")
	w.openForge(forge)
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
func (e *env) openForge(change func(*localforge.Config)) {
	e.Helper()
	e.forge = forgetest.Start(e, forgetest.Config{
		File: "README.md", Text: "# Widgets\n",
		Users: []localforge.User{
			forgetest.Bot(), {Login: "ann", Token: forgetest.Token("ann"), Permission: "admin", Organisations: []string{"acme"}},
			forgetest.User("bob", "write"), forgetest.User("eve", ""),
			{Login: "ci[bot]", Token: forgetest.Token("ci[bot]"), Type: "Bot", Permission: "write"},
		},
		Forge: func(c *localforge.Config) {
			if change != nil {
				change(c)
			}
			fault := c.Fault
			c.Fault = func(r *http.Request) *localforge.Fault {
				if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/merge") {
					e.mu.Lock()
					e.merges++
					e.mu.Unlock()
				}
				return fault(r)
			}
		},
	})
	e.ann, e.bob, e.eve = person{e, "ann"}, person{e, "bob"}, person{e, "eve"}
}

// startAgents has a shepherd and a developer work until the test ends.
func (e *env) startAgents() {
	e.Helper()
	js := e.server.JetStream(e.T)
	objects, err := host.Bucket(e.ctx, js)
	if err != nil {
		e.Fatal(err)
	}
	c, gate := e.forge.Side("signalbox", objects)
	if e.attests {
		gate.Attest = agent.Door{Client: client.New(e.server.Connect(e.T), "shepherd-1")}.Attest
	}
	s := &shepherd{forge: c, gate: gate, command: "signalbox", now: time.Now}
	e.work(js, "shepherd", noting{e, s})
	e.work(js, "developer", developer{e, forgetest.Workspace(e, objects)})
}

func (e *env) work(js jetstream.JetStream, role string, h agent.Handler) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	a := agent.New(agent.Config{
		Role: role, Name: role + "-1", JetStream: js, Client: client.New(e.server.Connect(e.T), role+"-1"), Handler: h,
		Log: slog.New(slog.DiscardHandler),
	})
	go func() { ended <- a.Run(ctx) }()
	e.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			e.Errorf("the %s ended with %v", role, err)
		}
	})
}

// heard are the questions that the developer was asked.
func (e *env) heard() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.asked)
}

// merged counts the calls that merge.
func (e *env) merged() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.merges
}

// does has the developer do something else.
func (e *env) does(develop func(agent.Job) change) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.develop = develop
}

// failRequests makes the requests fail that have the method and end of the path.
func (e *env) failRequests(method, path string, f localforge.Fault) {
	e.forge.Fail(func(r *http.Request) *localforge.Fault {
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
