package jetstream_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

func TestPartsOfSnapshotsAreKeptUntilTheyAreSwept(t *testing.T) {
	js := natstest.Start(t, natstest.Options{}).JetStream(t)
	ctx := t.Context()
	index, parts, err := store.EnsureSnapshots(ctx, js, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.EnsureSnapshots(ctx, js, 1); err != nil {
		t.Errorf("it cannot be done again: %v", err)
	}

	if data, revision, err := index.Get(ctx); data != nil || revision != 0 || err != nil {
		t.Errorf("at first there is %q, %d, %v", data, revision, err)
	}
	if err := index.Set(ctx, []byte("one"), 0); err != nil {
		t.Fatal(err)
	}
	_, first, _ := index.Get(ctx)
	if err := index.Set(ctx, []byte("another"), 0); !errors.Is(err, eventstore.ErrConflict) {
		t.Errorf("a second first one: %v", err)
	}
	if err := index.Set(ctx, []byte("two"), first); err != nil {
		t.Fatal(err)
	}
	if err := index.Set(ctx, []byte("late"), first); !errors.Is(err, eventstore.ErrConflict) {
		t.Errorf("one that comes late: %v", err)
	}
	if data, revision, err := index.Get(ctx); string(data) != "two" || revision <= first || err != nil {
		t.Errorf("there is %q, %d, %v", data, revision, err)
	}

	if err := parts.Sweep(ctx, func(string) bool { return false }); err != nil {
		t.Errorf("nothing is swept with %v", err)
	}
	long := make([]byte, 1<<20)
	if _, err := rand.Read(long); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"0001.live": long, "0001.ended": {}, "0002.live": []byte("short")} {
		if err := parts.Put(ctx, name, data); err != nil {
			t.Fatal(err)
		}
		if got, err := parts.Get(ctx, name); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s has %d bytes, %v; want %d", name, len(got), err, len(data))
		}
	}
	if err := parts.Sweep(ctx, func(name string) bool { return name > "0002" }); err != nil {
		t.Fatal(err)
	}
	if _, err := parts.Get(ctx, "0001.live"); !errors.Is(err, jetstream.ErrObjectNotFound) {
		t.Errorf("what was swept is gone with %v", err)
	}
	if got, err := parts.Get(ctx, "0002.live"); err != nil || string(got) != "short" {
		t.Errorf("what was to be kept is %q, %v", got, err)
	}
	stream, err := js.Stream(ctx, "OBJ_"+store.SnapshotParts)
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n != 2 { // one chunk and what describes it
		t.Errorf("%d messages are left, want 2", n)
	}
}
