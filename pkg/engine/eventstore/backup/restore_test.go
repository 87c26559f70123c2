package backup_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/go-cmp/cmp"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/backup"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
)

// Whatever is wrong with a backup, its file is named, and nothing is written.
func TestADamagedBackupIsRefused(t *testing.T) {
	spoil := func(t *testing.T, name string, change func([]byte) []byte) {
		t.Helper()
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, change(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	chunk := func(m backup.Manifest) string { return m.Chunks[1].Path }
	object := func(m backup.Manifest) string { return m.Objects[0].Path }
	bucket := func(m backup.Manifest) string { return m.Buckets[0].Path }
	for name, c := range map[string]struct {
		file  func(backup.Manifest) string
		spoil func([]byte) []byte // nil: it is removed
	}{
		"a flipped bit in a chunk":  {chunk, flip},
		"a chunk cut short":         {chunk, func(b []byte) []byte { return b[:len(b)-9] }},
		"a chunk that is gone":      {chunk, nil},
		"a flipped bit in a bucket": {bucket, flip},
		"a flipped bit in a bundle": {object, flip},
		"a bundle that is gone":     {object, nil},
		"a manifest without its first chunk": {func(backup.Manifest) string { return "manifest.json" }, func(b []byte) []byte {
			return rewrite(b, func(m *backup.Manifest) { m.Chunks = m.Chunks[1:] })
		}},
		"a manifest of a shorter log": {func(backup.Manifest) string { return "manifest.json" }, func(b []byte) []byte {
			return rewrite(b, func(m *backup.Manifest) { m.Chunks, m.Last = m.Chunks[:1], 3 })
		}},
		"a manifest that is none": {func(backup.Manifest) string { return "manifest.json" }, func(b []byte) []byte { return b[1:] }},
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := begin(t), t.TempDir()
			for i := range 2 {
				eventstoretest.Grow(t, w.log, string(rune('a'+i)), 3, eventstore.Commit{})
				if _, err := w.take(t, dir); err != nil {
					t.Fatal(err)
				}
			}
			m, err := backup.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			path := c.file(m)
			if c.spoil == nil {
				if err := os.Remove(filepath.Join(dir, path)); err != nil {
					t.Fatal(err)
				}
			} else {
				spoil(t, filepath.Join(dir, path), c.spoil)
			}
			if name == "a manifest without its first chunk" {
				path = m.Chunks[1].Path
			}
			to := bare(t)
			_, err = backup.Restore(t.Context(), to.js, dir, to.mark, false)
			if !errors.Is(err, backup.ErrDamaged) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want ErrDamaged that names %s", err, path)
			}
			if _, err := to.js.Stream(t.Context(), "EVENTS"); !errors.Is(err, natsjs.ErrStreamNotFound) {
				t.Errorf("there is a log: %v", err)
			}
			if _, err := w.take(t, dir); !errors.Is(err, backup.ErrDamaged) {
				t.Errorf("the next backup: %v", err)
			}
		})
	}
}

func rewrite(b []byte, change func(*backup.Manifest)) []byte {
	var m backup.Manifest
	if json.Unmarshal(b, &m) != nil {
		return nil
	}
	change(&m)
	b, _ = json.Marshal(m)
	return b
}

func TestWhatIsThereIsNotOverwritten(t *testing.T) {
	w, dir := begin(t), t.TempDir()
	a := eventstoretest.Grow(t, w.log, "a", 3, eventstore.Commit{})
	if _, err := w.take(t, dir); err != nil {
		t.Fatal(err)
	}
	eventstoretest.Grow(t, w.log, "a", 1, a[2])
	if err := w.log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := backup.Restore(t.Context(), w.js, dir, w.mark, true)
	if !errors.Is(err, jetstream.ErrNotEmpty) || !strings.Contains(err.Error(), "has 4 commits") {
		t.Errorf("over a log: %v", err)
	}
	to := bare(t)
	to.mark = w.mark // which knows of 4
	if _, err = backup.Restore(t.Context(), to.js, dir, to.mark, false); !errors.Is(err, jetstream.ErrLoss) || !strings.Contains(err.Error(), "at least 4 commits") {
		t.Errorf("less than there was: %v", err)
	}
	if _, err := backup.Restore(t.Context(), to.js, dir, to.mark, true); err != nil {
		t.Errorf("less than there was, knowingly: %v", err)
	}
	to.open(t)
	t.Run("an empty log in its place is", func(t *testing.T) {
		to := begin(t) // an orchestrator was started on the empty store
		if _, err := backup.Restore(t.Context(), to.js, dir, to.mark, false); err != nil {
			t.Fatal(err)
		}
		to.open(t)
	})
}

// A restore may be stopped between any two writes.
func TestAnInterruptedRestoreGoesOn(t *testing.T) {
	w, dir := begin(t), t.TempDir()
	var last [2]eventstore.Commit
	for i := range 20 {
		k := i % 2
		last[k] = eventstoretest.Grow(t, w.log, string(rune('a'+k)), 1, last[k])[0]
	}
	m, err := w.take(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	to := bare(t)
	log, err := jetstream.Rebuild(t.Context(), to.js, to.mark, jetstream.Origin{Metadata: m.Metadata, Head: m.Head, Last: m.Last})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Put(t.Context(), w.raw(t)[:7]); err != nil {
		t.Fatal(err)
	}
	if _, err := jetstream.Open(t.Context(), to.js, to.mark); err == nil || !strings.Contains(err.Error(), "want a restore that has ended: run it again") {
		t.Fatalf("an orchestrator opens it meanwhile: %v", err)
	}
	t.Run("not from another backup", func(t *testing.T) {
		other, elsewhere := begin(t), t.TempDir()
		eventstoretest.Grow(t, other.log, "z", 9, eventstore.Commit{})
		if _, err := other.take(t, elsewhere); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Restore(t.Context(), to.js, elsewhere, to.mark, false); !errors.Is(err, jetstream.ErrNotEmpty) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a cancelled one leaves it to the next", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := backup.Restore(ctx, to.js, dir, to.mark, false); err == nil {
			t.Error("it ended")
		}
	})
	r, err := backup.Restore(t.Context(), to.js, dir, to.mark, false)
	if err != nil || r.Found != 7 {
		t.Fatalf("it found %d commits, %v", r.Found, err)
	}
	to.open(t)
	if head, err := to.log.Head(t.Context()); err != nil || head != 20 {
		t.Errorf("the log ends at %d, %v", head, err)
	}
	for _, id := range []string{"a", "b"} {
		if all, err := to.log.Load(t.Context(), id); err != nil || len(all) != 10 {
			t.Errorf("%s has %d commits, %v", id, len(all), err)
		}
	}
}

// What a mirror holds is enough to make the log again.
func TestALogComesBackFromItsMirror(t *testing.T) {
	w, dir := begin(t), t.TempDir()
	a := eventstoretest.Grow(t, w.log, "a", 2, eventstore.Commit{})
	log, err := w.js.Stream(t.Context(), "EVENTS")
	if err != nil {
		t.Fatal(err)
	}
	config := natsjs.StreamConfig{Name: "EVENTS_MIRROR", Mirror: &natsjs.StreamSource{Name: "EVENTS"}, Storage: natsjs.FileStorage, DenyDelete: true, DenyPurge: true}
	take := func() error {
		mirror, err := w.js.CreateOrUpdateStream(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		head, err := w.log.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := backoff.Retry(t.Context(), func() (*natsjs.RawStreamMsg, error) { return mirror.GetMsg(t.Context(), head) }, backoff.WithMaxElapsedTime(time.Minute)); err != nil {
			t.Fatal(err)
		}
		reader, err := jetstream.OpenAuditReader(t.Context(), w.js, "EVENTS_MIRROR", w.mark)
		if err == nil {
			_, err = backup.Take(t.Context(), w.js, reader, dir, nil, time.Unix(1, 0))
		}
		return err
	}
	if err := take(); !errors.Is(err, backup.ErrOther) || !strings.Contains(err.Error(), "has no metadata signalbox-identity") {
		t.Errorf("a mirror of nobody knows what: %v", err)
	}
	config.Metadata = log.CachedInfo().Config.Metadata
	if err := take(); err != nil {
		t.Fatal(err)
	}
	eventstoretest.Grow(t, w.log, "a", 2, a[1])
	if err := take(); err != nil {
		t.Fatal(err)
	}
	to := restored(t, dir)
	if diff := cmp.Diff(w.raw(t), to.raw(t)); diff != "" {
		t.Errorf("(-was +is)\n%s", diff)
	}
	to.open(t)
}

// A backup may come from a stranger, by mail or in an archive.
func TestABackupOfAStrangerOpensNothingButItsOwnFiles(t *testing.T) {
	w := begin(t)
	eventstoretest.Grow(t, w.log, "a", 3, eventstore.Commit{})
	to := bare(t)
	for name, c := range map[string]struct {
		change func(dir string, m *backup.Manifest) error
		says   string
	}{
		"a path out of the directory": {func(dir string, m *backup.Manifest) error {
			m.Objects[0].Path = "../" + m.Objects[0].Path
			return nil
		}, "leads out of the backup"},
		"an absolute path": {func(dir string, m *backup.Manifest) error {
			m.Objects[0].Path = "/dev/zero"
			return nil
		}, "leads out of the backup"},
		"a pipe": {func(dir string, m *backup.Manifest) error {
			name := filepath.Join(dir, m.Chunks[0].Path)
			return errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o600))
		}, "is no ordinary file"},
		"a link to a device": {func(dir string, m *backup.Manifest) error {
			name := filepath.Join(dir, m.Chunks[0].Path)
			return errors.Join(os.Remove(name), os.Symlink("/dev/zero", name))
		}, "is no ordinary file"},
		"a bucket of another service": {func(dir string, m *backup.Manifest) error {
			m.Buckets[0].Name = jetstream.WatermarkBucket
			return nil
		}, "no backup has a bucket"},
		"a line without end": {func(dir string, m *backup.Manifest) error {
			var packed bytes.Buffer
			zip, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
			if err != nil {
				return err
			}
			_, err = io.CopyN(zip, blanks{}, 160<<20)
			err = errors.Join(err, zip.Close())
			sum := sha256.Sum256(packed.Bytes())
			c := &m.Chunks[0]
			c.Bytes, c.SHA256 = int64(packed.Len()), hex.EncodeToString(sum[:])
			return errors.Join(err, os.WriteFile(filepath.Join(dir, c.Path), packed.Bytes(), 0o600))
		}, "a line is longer than"},
		"an escape of a terminal": {func(dir string, m *backup.Manifest) error {
			m.Objects[0].Path = "object/\x1b]0;owned\a"
			return nil
		}, "is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			m, err := w.take(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.change(dir, &m.Manifest); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(m.Manifest)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = backup.Restore(t.Context(), to.js, dir, to.mark, false)
			if !errors.Is(err, backup.ErrDamaged) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if _, err := to.js.Stream(t.Context(), "EVENTS"); !errors.Is(err, natsjs.ErrStreamNotFound) {
				t.Errorf("there is a log: %v", err)
			}
		})
	}
}

// blanks is white space without end: JSON has no limit of it.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
