package backup_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/backup"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

// env is a server with a log, and the buckets beside it.
type env struct {
	*natstest.Server
	js   natsjs.JetStream
	log  *jetstream.Store
	mark jetstream.Config
}

func begin(t *testing.T) *env {
	t.Helper()
	w := bare(t)
	w.open(t)
	r, err := jetstream.Provision(t.Context(), w.js, jetstream.ProvisionConfig{})
	if err != nil {
		t.Fatal(err)
	}
	cursors, err := w.js.KeyValue(t.Context(), backup.Cursors)
	if err != nil {
		t.Fatal(err)
	}
	for key, kv := range map[string]natsjs.KeyValue{"c0ffee": r.Definitions, "acme/widgets": cursors} {
		if _, err := kv.PutString(t.Context(), key, "value of "+key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Objects.PutString(t.Context(), "bundle/1", strings.Repeat("code ", 100_000)); err != nil {
		t.Fatal(err)
	}
	return w
}

func bare(t *testing.T) *env {
	t.Helper()
	server := natstest.Start(t, natstest.Options{})
	return &env{Server: server, js: server.JetStream(t), mark: jetstream.Config{Watermark: filepath.Join(t.TempDir(), "watermark")}}
}

// restored is a server of its own with what dir has.
func restored(t *testing.T, dir string) *env {
	t.Helper()
	w := bare(t)
	if _, err := backup.Restore(t.Context(), w.js, dir, w.mark, false); err != nil {
		t.Fatal(err)
	}
	return w
}

func (e *env) open(t *testing.T) {
	t.Helper()
	var err error
	if e.log, err = jetstream.Open(t.Context(), e.js, e.mark); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.log.Close(t.Context()) })
}

func (e *env) take(t *testing.T, dir string) (backup.Added, error) {
	t.Helper()
	reader, err := jetstream.OpenAuditReader(t.Context(), e.js, "", e.mark)
	if err != nil {
		t.Fatal(err)
	}
	return backup.Take(t.Context(), e.js, reader, dir, nil, time.Unix(1, 0))
}

// raw is the log as it is stored, but for when that was.
func (e *env) raw(t *testing.T) (all []jetstream.Message) {
	t.Helper()
	reader, err := jetstream.OpenAuditReader(t.Context(), e.js, "", jetstream.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Read(t.Context(), 1, func(m jetstream.Message) error {
		for name := range m.Header {
			if strings.HasPrefix(name, "Nats-Batch-") {
				delete(m.Header, name)
			}
		}
		m.Stored = time.Time{}
		all = append(all, m)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestALogComesBackAsItWas(t *testing.T) {
	w, dir := begin(t), filepath.Join(t.TempDir(), "backup")
	a := eventstoretest.Grow(t, w.log, "acme/widgets/1", 3, eventstore.Commit{})
	if err := jetstream.EnsureConsumer(t.Context(), w.js, "tester", []string{"sb.evt.work.issue.received.*"}, jetstream.ConsumerConfig{}); err != nil {
		t.Fatal(err)
	}
	done(t, w.js, 2)
	first, err := w.take(t, dir)
	if err != nil || first.From != 1 || first.Last != 3 || first.Objects != 1 {
		t.Fatalf("the first backup: %+v, %v", first, err)
	}
	eventstoretest.Grow(t, w.log, "acme/widgets/1", 2, a[2])
	eventstoretest.Grow(t, w.log, "b", 2, eventstore.Commit{})
	second, err := w.take(t, dir)
	if err != nil || second.From != 4 || second.Last != 7 || second.Objects != 0 || len(second.Chunks) != 2 || second.Chunks[0] != first.Chunks[0] {
		t.Fatalf("the second backup: %+v, %v", second, err)
	}
	third, err := w.take(t, dir)
	if err != nil || third.From != 8 || third.Last != 7 || third.Head != second.Head || len(third.Chunks) != 2 {
		t.Fatalf("the third backup, of nothing new: %+v, %v", third, err)
	}
	if m, err := backup.Verify(dir); err != nil || m.Last != 7 {
		t.Fatalf("verify: %+v, %v", m, err)
	}

	to := restored(t, dir)
	if diff := cmp.Diff(w.raw(t), to.raw(t)); diff != "" {
		t.Errorf("the log (-was +is)\n%s", diff)
	}
	to.open(t) // as an orchestrator does: the watermark means it
	last, err := to.log.Last(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	eventstoretest.Grow(t, to.log, "b", 1, last)
	consumer, err := to.js.Consumer(t.Context(), "EVENTS", "tester")
	if err != nil {
		t.Fatal(err)
	}
	work, err := consumer.Fetch(1, natsjs.FetchMaxWait(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if at, err := (<-work.Messages()).Metadata(); err != nil || at.Sequence.Stream != 3 {
		t.Errorf("work is given out from %+v on, %v; want what was done to stay done", at, err)
	}
	objects, err := to.js.ObjectStore(t.Context(), jetstream.ObjectBucket)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := objects.GetString(t.Context(), "bundle/1"); err != nil || text != strings.Repeat("code ", 100_000) {
		t.Errorf("the object has %d bytes, %v", len(text), err)
	}
	for bucket, key := range map[string]string{jetstream.DefinitionBucket: "c0ffee", backup.Cursors: "acme/widgets"} {
		kv, err := to.js.KeyValue(t.Context(), bucket)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := kv.Get(t.Context(), key); err != nil || string(e.Value()) != "value of "+key {
			t.Errorf("%s of %s is %v, %v", key, bucket, e, err)
		}
	}
	fourth, err := to.take(t, dir)
	if err != nil || fourth.From != 8 || fourth.Last != 8 {
		t.Errorf("the restored log is backed up to where it came from: %+v, %v", fourth, err)
	}
}

// done has an agent finish the oldest n pieces of work.
func done(t *testing.T, js natsjs.JetStream, n int) {
	t.Helper()
	consumer, err := js.Consumer(t.Context(), "EVENTS", "tester")
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		m, err := consumer.Next(natsjs.FetchMaxWait(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.DoubleAck(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Messages of other programs keep their sequences, in what follows on the backup too, and commits that
// were appended round them fit as they did.
func TestALogComesBackWithItsForeignMessages(t *testing.T) {
	w, dir := begin(t), t.TempDir()
	intrude := func(subject, id string) {
		m := nats.NewMsg(subject)
		m.Data = []byte("hm")
		m.Header.Set(natsjs.MsgIDHeader, id)
		m.Header.Set("Their-Header", "theirs")
		if _, err := w.js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	intrude("sb.evt.note.issue.received.a", "a-1")
	a := eventstoretest.Grow(t, w.log, "a", 2, eventstore.Commit{})
	intrude("sb.evt.note.issue.received.a", "a-2")
	intrude("sb.evt.junk", "a-3")
	if _, err := w.take(t, dir); err != nil {
		t.Fatal(err)
	}
	third := eventstoretest.Put(t, w.log, eventstoretest.Next("a", "a-3", a[1]))
	intrude("sb.evt.work.issue.received.a", "a-4")
	if _, err := w.take(t, dir); err != nil {
		t.Fatal(err)
	}
	again := restored(t, dir)
	want, got := w.raw(t), again.raw(t)
	for i := range want {
		if want[i].Header.Get(jetstream.HeaderChain) == "" {
			want[i].Header.Del(natsjs.MsgIDHeader) // what the server would act on is not restored
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	again.open(t)
	eventstoretest.Put(t, again.log, eventstoretest.Next("a", "a-4", third))
	if all, err := again.log.Load(t.Context(), "a"); err != nil || len(all) != 4 {
		t.Errorf("got %d commits, %v, want 4", len(all), err)
	}
}

func TestABackupIsOfOneSoundLog(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*testing.T, *env, string) *env
		want   error
		text   string
	}{
		"not of another log": {func(t *testing.T, _ *env, _ string) *env {
			other := begin(t)
			eventstoretest.Grow(t, other.log, "a", 9, eventstore.Commit{})
			return other
		}, backup.ErrOther, "this one is"},
		"not of what went another way since": {func(t *testing.T, w *env, dir string) *env {
			other := restored(t, dir)
			other.open(t)
			eventstoretest.Grow(t, other.log, "c", 1, eventstore.Commit{})
			eventstoretest.Grow(t, w.log, "d", 1, eventstore.Commit{})
			if _, err := w.take(t, dir); err != nil {
				t.Fatal(err)
			}
			return other
		}, backup.ErrOther, "sequence 4 is another commit"},
		"not of one that lost its end": {func(t *testing.T, w *env, dir string) *env {
			other := restored(t, dir)
			eventstoretest.Grow(t, w.log, "d", 1, eventstore.Commit{})
			if _, err := w.take(t, dir); err != nil {
				t.Fatal(err)
			}
			return other
		}, backup.ErrOther, "the log ends at 3, and the backup at 4"},
		"not of one with a damaged commit": {func(t *testing.T, w *env, _ string) *env {
			m := nats.NewMsg("sb.evt.work.issue.received.a")
			m.Header.Set(jetstream.HeaderChain, "cut sh")
			if _, err := w.js.PublishMsg(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			return w
		}, eventstore.ErrCorrupt, "sequence 4 on sb.evt.work.issue.received.a is not a commit of ours"},
		"not where something else lies": {func(t *testing.T, w *env, dir string) *env {
			if err := errors.Join(os.Remove(filepath.Join(dir, "manifest.json")), os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			return w
		}, backup.ErrOther, "there is thesis.tex"},
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := begin(t), t.TempDir()
			eventstoretest.Grow(t, w.log, "a", 3, eventstore.Commit{})
			if _, err := w.take(t, dir); err != nil {
				t.Fatal(err)
			}
			w = c.change(t, w, dir)
			before, _ := os.ReadFile(filepath.Join(dir, "manifest.json"))
			_, err := w.take(t, dir)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want %v with %q", err, c.want, c.text)
			}
			if after, _ := os.ReadFile(filepath.Join(dir, "manifest.json")); !bytes.Equal(before, after) {
				t.Error("the backup was changed")
			}
		})
	}
}
