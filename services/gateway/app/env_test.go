package app

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/localforge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

const widgets = forgetest.Repo

// env is a forge, an orchestrator, and people.
type env struct {
	*testing.T
	ctx    context.Context
	server *natstest.Server
	forge  *forgetest.Forge
	second atomic.Int64
	late   atomic.Value   // "LIST/ISSUE" that the forge shows late
	ann    *github.Client // who may write
	bob    *github.Client // who may read
	robot  *github.Client
	client *client.Client
	kv     jetstream.KeyValue
	stop   func() // the orchestrator
}

func newEnv(t *testing.T) *env {
	t.Helper()
	return newEnvOn(t, natstest.Start(t, natstest.Options{}), time.Minute)
}

func newEnvOn(t *testing.T, server *natstest.Server, limit time.Duration) *env {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	w := &env{T: t, ctx: ctx, server: server}
	w.resume()
	js := w.server.JetStream(t)
	var err error
	if w.kv, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "cursors"}); err != nil {
		t.Fatal(err)
	}
	w.client = client.New(w.server.Connect(t), "operator:test")

	w.forge = forgetest.Start(t, forgetest.Config{
		Users: []localforge.User{
			forgetest.User("signalbox", "write"), // no bot: an ordinary account
			forgetest.User("ann", "write"), forgetest.User("bob", ""), forgetest.User("ada", "admin"),
			{Login: "robot", Token: forgetest.Token("robot"), Type: "Bot", Permission: "write"},
		},
		Forge: func(c *localforge.Config) {
			c.Late = func(list string, issue int64) bool { return w.late.Load() == list+"/"+strconv.FormatInt(issue, 10) }
			c.Now = func() time.Time { return time.Date(2026, 1, 2, 9, 0, int(w.second.Load()), 0, time.UTC) }
		},
	})
	w.ann, w.bob, w.robot = w.forge.Client("ann"), w.forge.Client("bob"), w.forge.Client("robot")
	return w
}

func (e *env) resume() {
	e.Helper()
	e.stop = orchestratortest.Start(e.T, e.server.URL, 1, orchestratortest.Settings{})
}

// poller is a gateway that has just started.
func (e *env) poller(change ...func(*poller)) *poller {
	e.Helper()
	p := &poller{
		reader: e.forge.Client("signalbox"), client: client.New(e.server.Connect(e.T), "gateway"), cursors: cursors{e.kv},
		repo: widgets, workflow: "issue", all: true, log: slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(p)
	}
	p.permissions = &permissions{forge: p.reader, repo: p.repo, now: time.Now}
	return p
}

func (e *env) poll(p *poller) {
	e.Helper()
	if err := p.poll(e.ctx); err != nil {
		e.Fatal(err)
	}
}

func (e *env) report(c *github.Client, title string, labels ...string) int {
	e.Helper()
	made, err := c.CreateIssue(e.ctx, widgets, forge.NewIssue{Title: title, Body: "It is broken.", Labels: labels})
	if err != nil {
		e.Fatal(err)
	}
	return made.Number
}

func (e *env) say(c *github.Client, issue int, body string) forge.Comment {
	e.Helper()
	made, err := c.Comment(e.ctx, widgets, issue, body)
	if err != nil {
		e.Fatal(err)
	}
	return made
}

// heard are the comments of people in the instance's log, in order.
func (e *env) heard(issue int) []string {
	e.Helper()
	return e.heardOf(widgets, issue)
}

func (e *env) heardOf(repo string, issue int) []string {
	e.Helper()
	records, err := e.client.History(e.ctx, Name(repo, issue), 0)
	if err != nil {
		e.Fatal(err)
	}
	var all []string
	for _, r := range records {
		for _, ev := range r.GetCommit().GetEvents() {
			if s := ev.GetSignalled(); s != nil {
				all = append(all, s.GetActor()+": "+s.GetData()["body"])
			}
		}
	}
	return all
}

func (e *env) want(issue int, comments ...string) {
	e.Helper()
	if got := e.heard(issue); !slices.Equal(got, comments) {
		e.Errorf("of issue %d were heard %q, want %q", issue, got, comments)
	}
}

func (e *env) instances() []string {
	e.Helper()
	all, err := e.client.List(e.ctx, &pb.ListRequest{All: true})
	if err != nil {
		e.Fatal(err)
	}
	var ids []string
	for _, in := range all {
		ids = append(ids, in.GetInstance())
	}
	return ids
}
