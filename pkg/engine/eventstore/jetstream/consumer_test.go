package jetstream_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// patience bounds the wait for a message that must come.
const patience = time.Minute

func TestARolesConsumer(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	store, js := open(t, server), server.JetStream(t)
	enter := func(state string, wakes bool) eventstore.Commit {
		t.Helper()
		c := eventstoretest.Next("in-"+state+strconv.FormatBool(wakes), "to-"+state+strconv.FormatBool(wakes), eventstore.Commit{})
		c.State, c.Wakes = state, wakes
		return eventstoretest.Put(t, store, eventstoretest.Chained(eventstore.Commit{}, c))
	}
	ensure := func(states ...string) natsjs.Consumer {
		t.Helper()
		var filters []string
		for _, s := range states {
			f, err := subject.Work("issue", s)
			if err != nil {
				t.Fatal(err)
			}
			filters = append(filters, f)
		}
		if err := jetstream.EnsureConsumer(t.Context(), js, "tester", filters, jetstream.ConsumerConfig{}); err != nil {
			t.Fatal(err)
		}
		c, err := js.Consumer(t.Context(), "EVENTS", "tester")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	takes := func(t *testing.T, c natsjs.Consumer, want eventstore.Commit) {
		t.Helper()
		m, err := c.Next(natsjs.FetchMaxWait(patience))
		if err != nil {
			t.Fatal(err)
		}
		if at, err := m.Metadata(); err != nil || at.Sequence.Stream != want.Seq {
			t.Fatalf("got %s, want sequence %d", m.Subject(), want.Seq)
		}
		if err := m.DoubleAck(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	enter("running_tests", false)
	early := enter("running_tests", true)
	enter("implementing", true)
	t.Run("gets the work of its states from the beginning, and nothing else", func(t *testing.T) {
		c := ensure("running_tests")
		takes(t, c, early)
		if info, err := c.Info(t.Context()); err != nil || info.NumPending != 0 {
			t.Fatalf("%d more are pending, %v", info.NumPending, err)
		}
	})
	t.Run("keeps its place when its states change, also just after a restart", func(t *testing.T) {
		server.Restart(t)
		c := ensure("running_tests", "writing_tests")
		takes(t, c, enter("writing_tests", true))
		if info, err := c.Info(t.Context()); err != nil || info.NumPending != 0 || info.NumAckPending != 0 {
			t.Fatalf("%+v, %v", info, err)
		}
	})
	t.Run("has defaults that lose nothing", func(t *testing.T) {
		c := ensure("running_tests").CachedInfo().Config
		if c.AckPolicy != natsjs.AckExplicitPolicy || c.DeliverPolicy != natsjs.DeliverAllPolicy ||
			c.MaxDeliver != -1 || c.AckWait != 30*time.Second || c.MaxAckPending != 10_000 {
			t.Fatalf("got %+v", c)
		}
	})
	t.Run("is refused to a role that owns nothing", func(t *testing.T) {
		if err := jetstream.EnsureConsumer(t.Context(), js, "idle", nil, jetstream.ConsumerConfig{}); err == nil || !strings.Contains(err.Error(), "owns no state") {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("is refused to a role whose name is none", func(t *testing.T) {
		if err := jetstream.EnsureConsumer(t.Context(), js, "a.b", []string{"sb.evt.>"}, jetstream.ConsumerConfig{}); err == nil {
			t.Fatal("made a consumer a.b")
		}
	})
}

// A restored consumer begins elsewhere than a new one would, and stays as it is.
func TestAConsumerFromNowOnTakesOneThatIsThere(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	open(t, server)
	js := server.JetStream(t)
	for _, fromNow := range []bool{false, true, true} {
		if err := jetstream.EnsureConsumer(t.Context(), js, "statuses", []string{subject.Events}, jetstream.ConsumerConfig{FromNow: fromNow}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := js.Consumer(t.Context(), "EVENTS", "statuses")
	if err != nil || c.CachedInfo().Config.DeliverPolicy != natsjs.DeliverAllPolicy {
		t.Errorf("%v, %+v", err, c)
	}
}

func TestDeadLetters(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	store, js := open(t, server), server.JetStream(t)
	kept, err := jetstream.Provision(t.Context(), js, jetstream.ProvisionConfig{})
	if err != nil {
		t.Fatal(err)
	}
	filter, err := subject.Work("issue", "received")
	if err != nil {
		t.Fatal(err)
	}
	if err := jetstream.EnsureConsumer(t.Context(), js, "pm", []string{filter}, jetstream.ConsumerConfig{MaxDeliver: 2}); err != nil {
		t.Fatal(err)
	}
	pm, err := js.Consumer(t.Context(), "EVENTS", "pm")
	if err != nil {
		t.Fatal(err)
	}
	dead, err := kept.Dead.OrderedConsumer(t.Context(), natsjs.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	letters, err := dead.Messages()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(letters.Stop)
	next := func(t *testing.T) natsjs.Msg {
		t.Helper()
		m, err := pm.Next(natsjs.FetchMaxWait(patience))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	names := func(t *testing.T, seq uint64, refused bool) {
		t.Helper()
		m, err := letters.Next(natsjs.NextMaxWait(patience))
		if err != nil {
			t.Fatal(err)
		}
		var letter struct {
			Seq uint64 `json:"stream_seq"`
		}
		if err := json.Unmarshal(m.Data(), &letter); err != nil {
			t.Fatal(err)
		}
		if role, r, err := subject.ParseDead(m.Subject()); err != nil || role != "pm" || r != refused || letter.Seq != seq {
			t.Fatalf("got %s: %s", m.Subject(), m.Data())
		}
	}
	cs := eventstoretest.Grow(t, store, "a", 2, eventstore.Commit{})
	t.Run("name a commit that was refused for good", func(t *testing.T) {
		if err := next(t).TermWithReason("no such tool"); err != nil {
			t.Fatal(err)
		}
		names(t, cs[0].Seq, true)
	})
	t.Run("name a commit that was delivered too often", func(t *testing.T) {
		for range 2 {
			if err := next(t).Nak(); err != nil {
				t.Fatal(err)
			}
		}
		// The server notices when it would deliver a third time. It may take in the last Nak after
		// the request of a single message, so requests stay open.
		requests, err := pm.Consume(func(natsjs.Msg) {})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(requests.Stop)
		names(t, cs[1].Seq, false)
	})
}

func TestProvision(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	js := server.JetStream(t)
	for _, run := range []string{"first", "second"} {
		t.Run("makes what is missing, "+run+" time", func(t *testing.T) {
			r, err := jetstream.Provision(t.Context(), js, jetstream.ProvisionConfig{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Definitions.Put(t.Context(), "sha256-"+run, []byte("workflow: issue")); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Objects.PutBytes(t.Context(), "bundles/"+run, make([]byte, 1<<18)); err != nil {
				t.Fatal(err)
			}
			if c, err := r.Timers.Consumer(t.Context(), subject.TimerConsumer); err != nil || c.CachedInfo().Config.MaxDeliver != -1 {
				t.Fatal("no consumer that never gives up on a timer", err)
			}
			if _, err := r.Definitions.Get(t.Context(), "sha256-first"); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Objects.GetBytes(t.Context(), "bundles/first"); err != nil {
				t.Fatal(err)
			}
		})
	}
}
