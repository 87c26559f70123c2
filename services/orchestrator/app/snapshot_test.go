package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// noted is a log that remembers from where it was read.
type noted struct {
	eventstore.Store
	from uint64
}

func (n *noted) Read(ctx context.Context, from uint64, f func(eventstore.Commit) error, caught func()) error {
	n.from = from
	return n.Store.Read(ctx, from, f, caught)
}

// began starts an engine on the server's log, calls f with it, keeps a snapshot,
// and returns from where the log was read and what was logged.
func began(t *testing.T, js jetstream.JetStream, f func(*engine.Engine)) (from uint64, logged string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var text strings.Builder
	log := slog.New(slog.NewTextHandler(&text, nil))
	real, err := store.Open(ctx, js, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	buckets, err := store.Provision(ctx, js, store.ProvisionConfig{})
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := newRegistry(ctx, buckets.Definitions, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	snapshots, err := Settings{}.snapshots(ctx, js, log, real)
	if err != nil {
		t.Fatal(err)
	}
	seen := &noted{Store: real}
	e := engine.New(engine.Config{Store: seen, Definitions: definitions, Now: time.Now, Snapshots: snapshots})
	following, leave := context.WithCancel(ctx)
	caught, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- e.Follow(following, func() { close(caught) }) }()
	select {
	case <-caught:
	case err := <-ended:
		t.Fatal(err)
	}
	if err := e.Complete(ctx); err != nil {
		t.Fatal(err)
	}
	f(e)
	if err := e.Snapshot(ctx, true); err != nil {
		t.Fatal(err)
	}
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("following ended with %v", err)
	}
	return seen.from, text.String()
}

func TestASnapshotMayEndWithAForeignMessage(t *testing.T) {
	js := natstest.Start(t, natstest.Options{}).JetStream(t)
	intrude := func() {
		if _, err := js.Publish(t.Context(), "sb.evt.note.issue.received.a", []byte("hm")); err != nil {
			t.Error(err)
		}
	}
	handle := func(e *engine.Engine, id string, a instance.Action) {
		if _, err := e.Handle(t.Context(), instance.Command{ID: id, Instance: "a", Actor: "operator:ann", Do: a}, "issue"); err != nil {
			t.Error(err)
		}
	}
	began(t, js, func(e *engine.Engine) {
		handle(e, "c-1", instance.Open{Issue: instance.Issue{Title: "t"}})
		intrude()
		if err := e.CatchUp(t.Context()); err != nil {
			t.Error(err)
		}
	})
	from, logged := began(t, js, func(e *engine.Engine) {
		handle(e, "c-2", instance.Note{Kind: "comment", Text: "hm"})
		intrude()
		handle(e, "c-3", instance.Note{Kind: "comment", Text: "hm"})
		if err := e.CatchUp(t.Context()); err != nil { // a snapshot ends where the tail is
			t.Error(err)
		}
	})
	if from != 2 || logged != "" {
		t.Errorf("it read from %d, want 2: %s", from, logged)
	}
	from, logged = began(t, js, func(e *engine.Engine) {
		if in, err := e.Get(t.Context(), "a"); err != nil || len(in.Notes) != 2 {
			t.Errorf("it has %d notes, %v", len(in.Notes), err)
		}
	})
	if from != 5 || logged != "" {
		t.Errorf("it read from %d, want 5: %s", from, logged)
	}
}

func TestAnOrchestratorBeginsWithTheNewestSnapshot(t *testing.T) {
	js := natstest.Start(t, natstest.Options{}).JetStream(t)
	n := 0
	do := func(e *engine.Engine, id string, a instance.Action) {
		t.Helper()
		n++
		if _, err := e.Handle(t.Context(), instance.Command{ID: fmt.Sprint("c-", n), Instance: id, Actor: "operator:ann", Do: a},
			"issue"); err != nil {
			t.Fatal(err)
		}
	}
	count := func(e *engine.Engine) int {
		t.Helper()
		all, err := e.List(t.Context(), func(in instance.Instance) bool { return in.Issue.Title == "t" })
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if from, _ := began(t, js, func(e *engine.Engine) {
		for _, id := range []string{"a", "b", "c"} {
			do(e, id, instance.Open{Issue: instance.Issue{Title: "t"}})
		}
		do(e, "a", instance.Cancel{Reason: "no need"})
		count(e)
	}); from != 1 {
		t.Errorf("without a snapshot it read from %d", from)
	}
	from, logged := began(t, js, func(e *engine.Engine) {
		do(e, "a", instance.Note{Kind: "comment", Text: "it had ended"})
		do(e, "b", instance.Cancel{Reason: "no need either"})
		if got := count(e); got != 3 {
			t.Errorf("there are %d instances, want 3", got)
		}
	})
	if from != 4 || logged != "" {
		t.Errorf("with a snapshot it read from %d, want 4: %s", from, logged)
	}
	parts, err := js.Stream(t.Context(), "OBJ_"+store.SnapshotParts)
	if err == nil {
		err = parts.Purge(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []bool{true, false} {
		from, logged := began(t, js, func(e *engine.Engine) {
			do(e, "c", instance.Note{Kind: "comment", Text: "another"})
			if got := count(e); got != 3 {
				t.Errorf("there are %d instances, want 3", got)
			}
		})
		if gone != (from == 1) || gone != strings.Contains(logged, "of no use") {
			t.Errorf("parts are gone: %v; it read from %d: %s", gone, from, logged)
		}
	}
}
