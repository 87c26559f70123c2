package backup_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/backup"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/seal"
)

// The seal is in the backup, and the log of the backup is held against it, before a restore, too.
func TestTheSealIsAPartOfABackup(t *testing.T) {
	w, dir := begin(t), filepath.Join(t.TempDir(), "backup")
	log := eventstoretest.Grow(t, w.log, "acme/widgets/1", 4, eventstore.Commit{})
	key, err := nkeys.CreateOperator()
	if err != nil {
		t.Fatal(err)
	}
	sealed := func(commits []eventstore.Commit) []byte {
		var f seal.Follower
		for _, c := range commits {
			f.Add(c.Seq, c, true, "", nil)
		}
		_, text, err := seal.Sign(&f, time.Unix(1, 0), key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	take := func(text []byte) (backup.Added, error) {
		reader, err := jetstream.OpenAuditReader(t.Context(), w.js, "", w.mark)
		if err != nil {
			t.Fatal(err)
		}
		return backup.Take(t.Context(), w.js, reader, dir, text, time.Unix(1, 0))
	}
	if _, err := take(sealed(append(log[:3:3], log[2]))); !errors.Is(err, seal.ErrOther) {
		t.Errorf("a seal of another log: %v", err)
	}
	if _, err := take([]byte("{}")); !errors.Is(err, seal.ErrSigned) {
		t.Errorf("no seal: %v", err)
	}
	for _, n := range []int{2, 4, 3} { // the backup grows, and the seal may be older than it
		if m, err := take(sealed(log[:n])); err != nil || m.Seal == nil || m.Seal.Seq != uint64(n) {
			t.Errorf("a seal of %d: %+v, %v", n, m.Seal, err)
		}
	}
	if m, err := take(nil); err != nil || m.Seal == nil || m.Seal.Seq != 3 {
		t.Errorf("the seal of before stays: %+v, %v", m.Seal, err)
	}
	if _, err := backup.Restore(t.Context(), bare(t).js, dir, jetstream.Config{}, false); err != nil {
		t.Errorf("it is not restored: %v", err)
	}
	// Another seal with its hash in the manifest, as a writer of the backup would put it there.
	other := sealed(append(log[:2:2], log[3]))
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := backup.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, m.Seal.Path))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, m.Seal.Path), bytes.Replace(before, []byte(`"seq":3`), []byte(`"seq":2`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Verify(dir); !errors.Is(err, backup.ErrDamaged) || !strings.Contains(err.Error(), "has the SHA-256") {
		t.Errorf("a seal that was changed: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, m.Seal.Path), other, 0o600); err != nil {
		t.Fatal(err)
	}
	manifest = bytes.Replace(manifest, []byte(m.Seal.SHA256), []byte(digestOf(other)), 1)
	manifest = bytes.Replace(manifest, []byte(`"bytes": `+strconv.Itoa(len(before))), []byte(`"bytes": `+strconv.Itoa(len(other))), -1)
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(t.Context(), bare(t).js, dir, jetstream.Config{}, false); !errors.Is(err, backup.ErrDamaged) {
		t.Errorf("it is restored under a seal of another log: %v", err)
	}
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
