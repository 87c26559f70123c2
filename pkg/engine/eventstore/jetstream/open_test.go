package jetstream_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	natsserver "github.com/nats-io/nats-server/v2/server"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

func TestTheFirstOpen(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	open(t, server)
	stream, err := server.JetStream(t).Stream(t.Context(), "EVENTS")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("makes a stream that forgets nothing", func(t *testing.T) {
		c := stream.CachedInfo().Config
		want := natsjs.StreamConfig{
			Name: "EVENTS", Subjects: []string{"sb.evt.>"}, Storage: natsjs.FileStorage, Compression: natsjs.S2Compression,
			Retention: natsjs.LimitsPolicy, MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: -1, MaxMsgSize: -1, MaxConsumers: -1,
			Replicas: 1, Duplicates: 2 * 60e9, DenyDelete: true, DenyPurge: true, AllowAtomicPublish: true,
		}
		if diff := cmp.Diff(want, c, cmpopts.IgnoreFields(c, "Description", "Metadata")); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
	t.Run("is told from the second", func(t *testing.T) {
		before := stream.CachedInfo().Config.Metadata["signalbox-identity"]
		open(t, server)
		info, err := stream.Info(t.Context())
		if after := info.Config.Metadata["signalbox-identity"]; err != nil || before == "" || after != before {
			t.Fatalf("the identity was %q and is %q, %v", before, after, err)
		}
	})
}

// A log that is not what it was must be refused, whoever keeps the watermark.
func TestOpenRefuses(t *testing.T) {
	for keeper, watermark := range map[string]string{"file": filepath.Join(t.TempDir(), "watermark"), "bucket": ""} {
		for _, c := range []struct {
			name   string
			damage func(*testing.T, natsjs.JetStream)
			want   string
		}{
			{"a log that is gone", func(t *testing.T, js natsjs.JetStream) { remove(t, js) }, "stream EVENTS is gone, want identity"},
			{"an empty log in its place", func(t *testing.T, js natsjs.JetStream) {
				config := remove(t, js)
				config.Metadata = map[string]string{"signalbox-identity": "impostor"}
				add(t, js, config)
			}, "another log is there: identity impostor"},
			{"a recreated log like the old one", func(t *testing.T, js natsjs.JetStream) { add(t, js, remove(t, js)) }, "a recreated log is there"},
			{"a stream that is not a log", func(t *testing.T, js natsjs.JetStream) {
				config := remove(t, js)
				config.Metadata = nil
				add(t, js, config)
			}, "cannot hold the log: want metadata"},
			{"a log that lost its beginning", func(t *testing.T, js natsjs.JetStream) {
				// deny_delete and deny_purge do not stop this.
				stream, err := js.Stream(t.Context(), "EVENTS")
				if err != nil {
					t.Fatal(err)
				}
				config := stream.CachedInfo().Config
				for _, config.MaxMsgs = range []int64{2, -1} {
					if _, err := js.UpdateStream(t.Context(), config); err != nil {
						t.Fatal(err)
					}
				}
			}, "has 2 commits, sequences 2 to 3, want 3 from 1"},
		} {
			t.Run(c.name+", by "+keeper, func(t *testing.T) {
				server := natstest.Start(t, natstest.Options{})
				js := server.JetStream(t)
				config := jetstream.Config{Watermark: watermark}
				if watermark != "" {
					config.Watermark = filepath.Join(t.TempDir(), "watermark")
				}
				store, err := jetstream.Open(t.Context(), js, config)
				if err != nil {
					t.Fatal(err)
				}
				eventstoretest.Grow(t, store, "a", 3, eventstore.Commit{})
				if err := store.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				c.damage(t, js)
				_, err = jetstream.Open(t.Context(), js, config)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want %q", err, c.want)
				}
				if !strings.Contains(c.want, "cannot hold") && !errors.Is(err, eventstore.ErrCorrupt) {
					t.Fatalf("got %v, want ErrCorrupt", err)
				}
			})
		}
	}
	t.Run("a server without JetStream", func(t *testing.T) {
		server := natstest.Start(t, natstest.Options{Change: func(o *natsserver.Options) { o.JetStream = false }})
		_, err := jetstream.Open(t.Context(), server.JetStream(t), jetstream.Config{})
		if !errors.Is(err, natsjs.ErrJetStreamNotEnabled) {
			t.Fatalf("got %v, want ErrJetStreamNotEnabled", err)
		}
	})
	t.Run("a log shorter than its watermark", func(t *testing.T) {
		server := natstest.Start(t, natstest.Options{})
		file := filepath.Join(server.Dir, "watermark")
		eventstoretest.Grow(t, open(t, server), "a", 3, eventstore.Commit{})
		mark, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(regexp.MustCompile(`"seq":\d`).ReplaceAllString(string(mark), `"seq":4`)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = jetstream.Open(t.Context(), server.JetStream(t), jetstream.Config{Watermark: file})
		if !errors.Is(err, eventstore.ErrCorrupt) || !strings.Contains(err.Error(), "3 commits; want") || !strings.Contains(err.Error(), "at least 4") {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("a log with a hole", func(t *testing.T) {
		js := natstest.Start(t, natstest.Options{}).JetStream(t)
		config := natsjs.StreamConfig{
			Name: "EVENTS", Subjects: []string{"sb.evt.>"}, DenyPurge: true, Metadata: map[string]string{"signalbox-identity": "x"},
		}
		add(t, js, config)
		stream, err := js.Stream(t.Context(), "EVENTS")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := js.Publish(t.Context(), "sb.evt.x", nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := stream.DeleteMsg(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		config.DenyDelete = true
		if _, err := js.UpdateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		_, err = jetstream.Open(t.Context(), js, jetstream.Config{})
		if !errors.Is(err, eventstore.ErrCorrupt) || !strings.Contains(err.Error(), "missing [2]") {
			t.Fatalf("got %v, want ErrCorrupt that names 2", err)
		}
	})
	for _, c := range []struct {
		name  string
		spoil func(*natsjs.StreamConfig)
		want  string
	}{
		{"lets commits be deleted", func(c *natsjs.StreamConfig) { c.DenyDelete = false }, "deny_delete"},
		{"lets commits be purged", func(c *natsjs.StreamConfig) { c.DenyPurge = false }, "deny_purge"},
		{"takes only some commits", func(c *natsjs.StreamConfig) { c.Subjects = []string{"sb.evt.work.>"} }, "subjects [sb.evt.>]"},
		{"is kept in memory", func(c *natsjs.StreamConfig) { c.Storage = natsjs.MemoryStorage }, "file storage"},
		{"drops what was delivered", func(c *natsjs.StreamConfig) { c.Retention = natsjs.InterestPolicy }, "limits retention"},
		{"is full at a number", func(c *natsjs.StreamConfig) { c.MaxMsgs = 1000 }, "no limit of messages"},
		{"is full at a size", func(c *natsjs.StreamConfig) { c.MaxBytes = 1 << 30 }, "no limit of bytes"},
		{"lets commits expire", func(c *natsjs.StreamConfig) { c.AllowMsgTTL = true }, "no limit of age"},
		{"can be rolled up", func(c *natsjs.StreamConfig) { c.AllowRollup, c.DenyPurge = true, false }, "deny_purge"},
		{"answers from any replica", func(c *natsjs.StreamConfig) { c.AllowDirect = true }, "no direct gets"},
	} {
		t.Run("a stream that "+c.name, func(t *testing.T) {
			js := natstest.Start(t, natstest.Options{}).JetStream(t)
			config := natsjs.StreamConfig{
				Name: "EVENTS", Subjects: []string{"sb.evt.>"}, DenyDelete: true, DenyPurge: true, Metadata: map[string]string{"signalbox-identity": "x"},
			}
			c.spoil(&config)
			add(t, js, config)
			if _, err := jetstream.Open(t.Context(), js, jetstream.Config{}); err == nil || !strings.Contains(err.Error(), "cannot hold the log: want "+c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
}

// remove deletes the log and returns how it was configured.
func remove(t *testing.T, js natsjs.JetStream) natsjs.StreamConfig {
	t.Helper()
	stream, err := js.Stream(t.Context(), "EVENTS")
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), "EVENTS"); err != nil {
		t.Fatal(err)
	}
	return stream.CachedInfo().Config
}

// add makes a stream. The server may still be taking away the store of one of the
// same name, and makes none meanwhile.
func add(t *testing.T, js natsjs.JetStream, c natsjs.StreamConfig) {
	t.Helper()
	const noStore = natsjs.ErrorCode(10049)
	if _, err := backoff.Retry(t.Context(), func() (natsjs.Stream, error) {
		s, err := js.CreateStream(t.Context(), c)
		if api := new(natsjs.APIError); err != nil && !(errors.As(err, &api) && api.ErrorCode == noStore) {
			err = backoff.Permanent(err)
		}
		return s, err
	}, backoff.WithMaxElapsedTime(time.Minute)); err != nil {
		t.Fatal(err)
	}
}
