package jetstream_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

// The server notices neither: it serves a log with a flipped byte as if the
// message had never been.
func TestAByteFlippedOnDisk(t *testing.T) {
	for _, c := range []struct {
		name, data string
		seq        int // of the commit that holds it
	}{{"in the middle", "first of b", 3}, {"at the end", "last of all", 5}} {
		t.Run(c.name+" is refused", func(t *testing.T) {
			server := natstest.Start(t, natstest.Options{})
			store := open(t, server)
			eventstoretest.Grow(t, store, "a", 2, eventstore.Commit{})
			b := write(t, store, "b", "first of b", eventstore.Commit{})
			a := eventstoretest.Grow(t, store, "c", 1, eventstore.Commit{})
			write(t, store, "c", "last of all", a[0])
			server.Stop()
			flip(t, server.Dir, c.data)
			server.Resume(t)

			store, err := jetstream.Open(t.Context(), server.JetStream(t), jetstream.Config{Watermark: filepath.Join(server.Dir, "watermark")})
			if c.seq == 5 {
				if !errors.Is(err, eventstore.ErrCorrupt) || !strings.Contains(err.Error(), "sequence 5 is missing") {
					t.Fatalf("Open: got %v, want ErrCorrupt that names 5", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			err = eventstoretest.Drain(t, store, 1)
			if !errors.Is(err, eventstore.ErrCorrupt) || !strings.Contains(err.Error(), "sequences 3 to 3 are missing") {
				t.Fatalf("Read: got %v, want ErrCorrupt that names 3", err)
			}
			if _, err := store.Load(t.Context(), b.Instance); err == nil {
				t.Fatal("Load took a damaged instance")
			}
		})
	}
}

func TestAForgedCommit(t *testing.T) {
	t.Run("that points into another instance is refused", func(t *testing.T) {
		server := natstest.Start(t, natstest.Options{})
		store := open(t, server)
		first := eventstoretest.Grow(t, store, "a", 1, eventstore.Commit{})
		// A writer that expects nothing of its instance can name any predecessor.
		forged := eventstoretest.Next("b", "forged", first[0])
		m := nats.NewMsg("sb.evt.work.issue.received.b")
		m.Data = forged.Data
		for key, value := range map[string]string{
			natsjs.MsgIDHeader: forged.ID, natsjs.ExpectedLastSubjSeqHeader: "1",
			natsjs.ExpectedLastSubjSeqSubjHeader: "sb.evt.*.*.*.b",
			jetstream.HeaderTime:                 "2026-01-02T03:04:05.123456789Z", jetstream.HeaderChain: forged.Chain,
		} {
			m.Header.Set(key, value)
		}
		if _, err := server.JetStream(t).PublishMsg(t.Context(), m); err == nil {
			t.Fatal("the server took a predecessor of another instance")
		}
		// It can if it first says the sequence on a filter of its own choice.
		m.Header.Set(natsjs.ExpectedLastSubjSeqSubjHeader, "sb.evt.>")
		if _, err := server.JetStream(t).PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		refused(t, store, "b", `it was appended under the filter "sb.evt.>"`)
	})
}

func refused(t *testing.T, store eventstore.Store, instance, want string) {
	t.Helper()
	_, err := store.Load(t.Context(), instance)
	if !errors.Is(err, eventstore.ErrCorrupt) || !strings.Contains(err.Error(), want) {
		t.Errorf("Load: got %v, want ErrCorrupt with %q", err, want)
	}
	err = eventstoretest.Drain(t, store, 1)
	if !errors.Is(err, eventstore.ErrCorrupt) || !strings.Contains(err.Error(), want) {
		t.Errorf("Read: got %v, want ErrCorrupt with %q", err, want)
	}
}

func write(t *testing.T, s eventstore.Store, instance, data string, prev eventstore.Commit) eventstore.Commit {
	t.Helper()
	c := eventstoretest.Next(instance, strings.ReplaceAll(data, " ", "-"), prev)
	c.Data = []byte(data)
	return eventstoretest.Put(t, s, eventstoretest.Chained(prev, c))
}

// flip changes one bit of text in the stream's blocks on disk.
func flip(t *testing.T, dir, text string) {
	t.Helper()
	blocks, err := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", "EVENTS", "msgs", "*.blk"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range blocks {
		block, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(block, []byte(text)); at >= 0 {
			block[at] ^= 1
			if err := os.WriteFile(name, block, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("%q is in none of %v", text, blocks)
}
