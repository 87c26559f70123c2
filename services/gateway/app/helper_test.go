package app

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/forge/local"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

const widgets = "acme/widgets"

// world is a forge, an orchestrator, and people.
type world struct {
	*testing.T
	ctx    context.Context
	server *natstest.Server
	url    string // of the forge's REST
	second atomic.Int64
	fault  atomic.Pointer[local.Fault] // of every request to the forge
	ann    *github.Client              // who may write
	bob    *github.Client              // who may read
	robot  *github.Client
	client *client.Client
	kv     jetstream.KeyValue
	stop   func() // the orchestrator
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	w := &world{T: t, ctx: ctx, server: natstest.Start(t, natstest.Options{})}
	w.resume()
	js := w.server.JetStream(t)
	var err error
	if w.kv, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "cursors"}); err != nil {
		t.Fatal(err)
	}
	w.client = client.New(w.server.Connect(t), "operator:test")

	f, err := local.Open(local.Config{Dir: t.TempDir(), Public: true,
		Now:   func() time.Time { return time.Date(2026, 1, 2, 9, 0, int(w.second.Load()), 0, time.UTC) },
		Fault: func(*http.Request) *local.Fault { return w.fault.Load() },
		Users: []local.User{
			{Login: "signalbox", Token: "signalbox-token", Permission: "write"}, // no bot: an ordinary account
			{Login: "ann", Token: "ann-token", Permission: "write"}, {Login: "bob", Token: "bob-token"},
			{Login: "robot", Token: "robot-token", Type: "Bot", Permission: "write"},
		}})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(f.Handler())
	t.Cleanup(func() { h.Close(); _ = f.Close() })
	f.SetURL(h.URL)
	w.url = h.URL + "/api/v3/"
	if err := f.CreateRepo(ctx, widgets, repository(t)); err != nil {
		t.Fatal(err)
	}
	w.ann, w.bob, w.robot = w.as("ann"), w.as("bob"), w.as("robot")
	return w
}

// repository is one with a commit.
func repository(t *testing.T) string {
	t.Helper()
	g := gittest.Repo(t)
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "first")
	return g.Dir()
}

func (w *world) as(login string) *github.Client {
	w.Helper()
	c, err := github.New(github.Config{BaseURL: w.url, Token: login + "-token"})
	if err != nil {
		w.Fatal(err)
	}
	return c
}

func (w *world) resume() {
	w.Helper()
	w.stop = orchestratortest.Start(w.T, w.server.URL, 1, orchestratortest.Settings{})
}

// poller is a gateway that has just started.
func (w *world) poller(change ...func(*poller)) *poller {
	w.Helper()
	p := &poller{
		reader: w.as("signalbox"), client: client.New(w.server.Connect(w.T), "gateway"), cursors: cursors{w.kv},
		repo: widgets, workflow: "issue", log: slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func (w *world) poll(p *poller) {
	w.Helper()
	if err := p.poll(w.ctx); err != nil {
		w.Fatal(err)
	}
}

func (w *world) report(c *github.Client, title string, labels ...string) int {
	w.Helper()
	made, err := c.CreateIssue(w.ctx, widgets, forge.NewIssue{Title: title, Body: "It is broken.", Labels: labels})
	if err != nil {
		w.Fatal(err)
	}
	return made.Number
}

func (w *world) say(c *github.Client, issue int, body string) forge.Comment {
	w.Helper()
	made, err := c.Comment(w.ctx, widgets, issue, body)
	if err != nil {
		w.Fatal(err)
	}
	return made
}

// heard are the comments of people in the instance's log, in order.
func (w *world) heard(issue int) []string {
	w.Helper()
	records, err := w.client.History(w.ctx, Name(widgets, issue), 0)
	if err != nil {
		w.Fatal(err)
	}
	var all []string
	for _, r := range records {
		for _, e := range r.GetCommit().GetEvents() {
			if s := e.GetSignalled(); s != nil {
				all = append(all, s.GetActor()+": "+s.GetData()["body"])
			}
		}
	}
	return all
}

func (w *world) want(issue int, comments ...string) {
	w.Helper()
	if got := w.heard(issue); !slices.Equal(got, comments) {
		w.Errorf("of issue %d were heard %q, want %q", issue, got, comments)
	}
}

func (w *world) instances() []string {
	w.Helper()
	all, err := w.client.List(w.ctx, &pb.ListRequest{All: true})
	if err != nil {
		w.Fatal(err)
	}
	var ids []string
	for _, in := range all {
		ids = append(ids, in.GetInstance())
	}
	return ids
}
