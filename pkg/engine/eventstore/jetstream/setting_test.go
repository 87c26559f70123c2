package jetstream_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

func TestSettingsThatWereChangedArePutBack(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	store := open(t, server)
	js := server.JetStream(t)
	if _, err := jetstream.Provision(t.Context(), js, jetstream.ProvisionConfig{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := jetstream.EnsureSnapshots(t.Context(), js, 1); err != nil {
		t.Fatal(err)
	}
	if found, err := jetstream.MendSettings(t.Context(), js); err != nil || found != nil {
		t.Fatalf("of streams as they are made it says %+v, %v", found, err)
	}
	eventstoretest.Grow(t, store, "a", 3, eventstore.Commit{})
	for name, c := range map[string]struct {
		stream string
		change func(*natsjs.StreamConfig)
		want   string
	}{
		"a limit of age":         {"EVENTS", func(c *natsjs.StreamConfig) { c.MaxAge = time.Hour }, "no limit of age"},
		"a limit of messages":    {"EVENTS", func(c *natsjs.StreamConfig) { c.MaxMsgs = 100 }, "no limit of messages"},
		"a limit of bytes":       {"EVENTS", func(c *natsjs.StreamConfig) { c.MaxBytes = 1 << 20 }, "no limit of bytes"},
		"a limit of size":        {"EVENTS", func(c *natsjs.StreamConfig) { c.MaxMsgSize = 100 }, "no limit of a message's size"},
		"more subjects":          {"EVENTS", func(c *natsjs.StreamConfig) { c.Subjects = append(c.Subjects, "orders.>") }, "subjects [sb.evt.>]"},
		"other subjects":         {"EVENTS", func(c *natsjs.StreamConfig) { c.Subjects = []string{"orders.>"} }, "subjects [sb.evt.>]"},
		"a copy for others":      {"EVENTS", func(c *natsjs.StreamConfig) { c.RePublish = &natsjs.RePublish{Destination: "leak.>"} }, "no copy on other subjects"},
		"direct gets":            {"EVENTS", func(c *natsjs.StreamConfig) { c.AllowDirect = true }, "no direct gets"},
		"no acknowledgements":    {"EVENTS", func(c *natsjs.StreamConfig) { c.NoAck = true }, "acknowledgements"},
		"definitions that end":   {"KV_definitions", func(c *natsjs.StreamConfig) { c.MaxAge = time.Hour }, "no limit of age"},
		"objects that end":       {"OBJ_objects", func(c *natsjs.StreamConfig) { c.MaxMsgs = 1 }, "no limit of messages"},
		"objects that push out":  {"OBJ_objects", func(c *natsjs.StreamConfig) { c.MaxBytes, c.Discard = 1<<20, natsjs.DiscardOld }, "no limit of bytes"},
		"timers that end":        {"TIMERS", func(c *natsjs.StreamConfig) { c.MaxAge = time.Hour }, "no limit of age"},
		"few dead letters":       {"DEAD", func(c *natsjs.StreamConfig) { c.MaxMsgs = 1 }, "a limit of 100000 messages"},
		"a watermark that ends":  {"DEAD", func(c *natsjs.StreamConfig) { c.MaxAge = time.Hour }, "no limit of age"},
		"snapshots on the whole": {"OBJ_snapshots", func(c *natsjs.StreamConfig) { c.MaxAge = time.Hour }, "no limit of age"},
	} {
		t.Run(name, func(t *testing.T) {
			stream, err := js.Stream(t.Context(), c.stream)
			if err != nil {
				t.Fatal(err)
			}
			before := stream.CachedInfo().Config
			config := before
			config.Subjects = slices.Clone(config.Subjects)
			c.change(&config)
			if _, err := js.UpdateStream(t.Context(), config); err != nil {
				t.Fatal(err)
			}
			if err := jetstream.CheckSettings(config); !errors.Is(err, jetstream.ErrSettings) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the check says %v", err)
			}
			found, err := jetstream.MendSettings(t.Context(), js)
			if err != nil || len(found) != 1 || found[0].Stream != c.stream || !found[0].Mended || !slices.Equal(found[0].Want, []string{c.want}) {
				t.Fatalf("found %+v, %v", found, err)
			}
			info, err := stream.Info(t.Context())
			if err != nil || jetstream.CheckSettings(info.Config) != nil {
				t.Errorf("it is left as %+v, %v", info.Config, err)
			}
		})
	}
	t.Run("but for what people may change", func(t *testing.T) {
		stream, err := js.Stream(t.Context(), "OBJ_objects")
		if err != nil {
			t.Fatal(err)
		}
		config := stream.CachedInfo().Config
		config.MaxBytes, config.Discard, config.Description = 1<<30, natsjs.DiscardNew, "ours"
		if _, err := js.UpdateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		if found, err := jetstream.MendSettings(t.Context(), js); err != nil || found != nil {
			t.Errorf("found %+v, %v", found, err)
		}
	})
	t.Run("and what a server does not take back is named", func(t *testing.T) {
		stream, err := js.Stream(t.Context(), "EVENTS")
		if err != nil {
			t.Fatal(err)
		}
		config := stream.CachedInfo().Config
		config.Sealed, config.MaxAge = true, time.Hour
		if _, err := js.UpdateStream(t.Context(), config); err != nil {
			t.Skipf("this server does not seal it: %v", err)
		}
		found, err := jetstream.MendSettings(t.Context(), js)
		if err != nil || len(found) != 1 || found[0].Mended || found[0].Problem == nil || !slices.Contains(found[0].Want, "no seal") {
			t.Errorf("found %+v, %v", found, err)
		}
	})
}

func TestAStreamThatWasDeletedIsMissed(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	js := server.JetStream(t)
	open(t, server)
	if _, err := jetstream.Provision(t.Context(), js, jetstream.ProvisionConfig{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"DEAD", "TIMERS", "KV_definitions", "OBJ_objects"} {
		if err := js.DeleteStream(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	found, err := jetstream.MendSettings(t.Context(), js)
	if err != nil || len(found) != 4 {
		t.Fatalf("it finds %+v, %v", found, err)
	}
	for _, d := range found {
		if d.Mended || d.Problem == nil || !strings.Contains(d.Problem.Error(), "it was deleted") {
			t.Errorf("of %s it says %v", d.Stream, d.Problem)
		}
	}
}
