package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/api"
)

// catalog is the built-in lifecycles.
type catalog struct{ *workflow.Catalog }

func (c catalog) Hashed(_ context.Context, hash string) (*workflow.Definition, error) {
	if d, ok := c.Catalog.Hashed(hash); ok {
		return d, nil
	}
	return nil, workflow.ErrUnknown
}

func (c catalog) Names() []string { return workflow.BuiltinNames() }

func (c catalog) Source(_ context.Context, name string) ([]byte, string, error) {
	d, err := c.Named(name)
	if err != nil {
		return nil, "", err
	}
	return d.Source(), d.Hash, nil
}

// env is an API over a log in memory, and a connection to it.
type env struct {
	*testing.T
	store  eventstore.Store
	server *api.Server
	nc     *nats.Conn
	client *client.Client
}

func newEnv(t *testing.T, store eventstore.Store, more ...*workflow.Definition) *env {
	t.Helper()
	server := natstest.Start(t, natstest.Options{})
	e := newEnvOn(t, store, server.Connect(t), more...)
	e.nc = server.Connect(t)
	e.client = client.New(e.nc, "operator:test")
	return e
}

// newEnvOn returns an API that answers on a connection, without a connection to it.
func newEnvOn(t *testing.T, store eventstore.Store, nc *nats.Conn, more ...*workflow.Definition) *env {
	t.Helper()
	if store == nil {
		store = memory.New()
	}
	defs, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	c := catalog{workflow.NewCatalog(append(defs, more...)...)}
	eng := engine.New(engine.Config{Store: store, Definitions: c, Now: time.Now})
	ctx, stop := context.WithCancel(context.Background())
	caught, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- eng.Follow(ctx, func() { close(caught) }) }()
	t.Cleanup(func() { stop(); <-ended })
	<-caught
	entry, err := access.FindEntry(t.Context(), nc)
	if err != nil {
		t.Fatal(err)
	}
	server, err := api.Serve(api.Config{
		Conn: nc, Entry: entry, Engine: eng, Store: store, Definitions: c, GitHubRight: access.Act, Version: api.Version, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return &env{T: t, store: store, server: server}
}

// ask sends a message as it is.
func (e *env) ask(subject, kind string, data []byte) *nats.Msg {
	e.Helper()
	header := nats.Header{}
	if kind != "" {
		header.Set("Content-Type", kind)
	}
	got, err := e.nc.RequestMsg(&nats.Msg{Subject: subject, Header: header, Data: data}, time.Minute)
	if err != nil {
		e.Fatalf("%s: %v", subject, err)
	}
	return got
}

// json asks in JSON.
func (e *env) json(subject string, body any) map[string]any {
	e.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		e.Fatal(err)
	}
	got := e.ask(subject, "application/json", data)
	var reply map[string]any
	if err := json.Unmarshal(got.Data, &reply); err != nil {
		e.Fatalf("%s was answered %.200q: %v", subject, got.Data, err)
	}
	return reply
}

// proto asks in protobuf.
func (e *env) proto(subject string, q, reply proto.Message) *nats.Msg {
	e.Helper()
	data, err := proto.Marshal(q)
	if err != nil {
		e.Fatal(err)
	}
	got := e.ask(subject, "application/protobuf", data)
	if err := proto.Unmarshal(got.Data, reply); err != nil {
		e.Fatalf("%s was answered %.200q: %v", subject, got.Data, err)
	}
	return got
}

func (e *env) open(id string) *pb.CommandReply {
	e.Helper()
	reply, err := e.client.Open(e.Context(), "", "issue", id, instance.Issue{Title: "title of " + id, Body: "It is broken."})
	if err != nil {
		e.Fatal(err)
	}
	return reply
}

func (e *env) note(id, text string) {
	e.Helper()
	if _, err := e.client.Note(e.Context(), id, "remark", text); err != nil {
		e.Fatal(err)
	}
}

// unchanged runs f and sees to it that nothing was appended.
func (e *env) unchanged(f func()) {
	e.Helper()
	before, err := e.store.Head(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	f()
	if after, err := e.store.Head(e.Context()); err != nil || after != before {
		e.Errorf("the log went from %d to %d (%v)", before, after, err)
	}
}

func id(n int) string { return fmt.Sprintf("acme/widgets/%04d", n) }
