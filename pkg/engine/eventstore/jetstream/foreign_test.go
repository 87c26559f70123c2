package jetstream_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

func intruder(t *testing.T, server *natstest.Server) eventstoretest.Intrude {
	js := server.JetStream(t)
	return func(subject string, data []byte) {
		if _, err := js.Publish(t.Context(), subject, data); err != nil {
			t.Error(err)
		}
	}
}

func TestStoreWithForeignMessages(t *testing.T) {
	for name, config := range map[string]jetstream.Config{
		"among others": {Sync: time.Minute}, "alone": {Alone: true, Sync: time.Minute}, "with batches": {Alone: true},
	} {
		t.Run(name, func(t *testing.T) {
			eventstoretest.RunForeign(t, func(t *testing.T) (eventstore.Store, eventstoretest.Intrude) {
				server := natstest.Start(t, natstest.Options{})
				store, err := jetstream.Open(t.Context(), server.JetStream(t), config)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = store.Close(context.Background()) })
				return store, intruder(t, server)
			})
		})
	}
}

func TestAForeignMessageSaysSinceWhenItIsThere(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	store := open(t, server)
	before := time.Now().Add(-time.Second)
	intruder(t, server)("sb.evt.junk", nil)
	if c := eventstoretest.Follow(t, store, 1).Next(t); c.Foreign == nil || c.Foreign.Stored.Before(before) || time.Since(c.Foreign.Stored) < 0 {
		t.Errorf("got %+v", c.Foreign)
	}
}

// Ids of commands can be guessed.
func TestAForeignMessageWithTheIDOfACommandDoesNotKeepItBack(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	store := open(t, server)
	first := eventstoretest.Grow(t, store, "a", 1, eventstore.Commit{})
	m := nats.NewMsg("sb.evt.junk")
	m.Header.Set(natsjs.MsgIDHeader, "a-2-report")
	if _, err := server.JetStream(t).PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	c := eventstoretest.Next("a", "a-2-report", first[0])
	stored := eventstoretest.Put(t, store, c)
	if again := eventstoretest.Put(t, store, c); again.Seq != stored.Seq {
		t.Errorf("the same again is %d, want %d", again.Seq, stored.Seq)
	}
	if got, err := store.Last(t.Context(), "a"); err != nil || got.ID != c.ID || got.Seq != stored.Seq {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestALogWithAForeignMessageAtItsEndIsOpenedAgain(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	store := open(t, server)
	first := eventstoretest.Grow(t, store, "a", 1, eventstore.Commit{})
	intruder(t, server)("sb.evt.work.issue.received.a", []byte("hm"))
	server.Stop()
	server.Resume(t)
	store = open(t, server)
	eventstoretest.Put(t, store, eventstoretest.Next("a", "on", first[0]))
}

// What makes a commit follow a foreign message is damage.
func TestACommitThatFollowsAForeignMessageIsRefused(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	store := open(t, server)
	intruder(t, server)("sb.evt.work.issue.received.a", []byte("hm"))
	forged := eventstoretest.Next("a", "forged", eventstore.Commit{Seq: 1})
	m := nats.NewMsg("sb.evt.work.issue.received.a")
	m.Data = forged.Data
	for key, value := range map[string]string{
		natsjs.MsgIDHeader: forged.ID, natsjs.ExpectedLastSubjSeqHeader: "1", natsjs.ExpectedLastSubjSeqSubjHeader: "sb.evt.*.*.*.a",
		jetstream.HeaderTime: "2026-01-02T03:04:05.123456789Z", jetstream.HeaderChain: forged.Chain,
	} {
		m.Header.Set(key, value)
	}
	if _, err := server.JetStream(t).PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Load(t.Context(), "a"); !errors.Is(err, eventstore.ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt", err)
	}
}
