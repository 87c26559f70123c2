package jetstream

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

func TestAFeedGivesWhatWasAppendedInOrder(t *testing.T) {
	all := new(localReaders)
	f := all.add()
	f.resumeAt(3)
	takes := func(want uint64, ahead bool) {
		t.Helper()
		if c, ok, a := f.pop(); ok != (want > 0) || c.Seq != want || a != ahead {
			t.Errorf("it gives %d, %v, with more ahead %v; want %d, %v", c.Seq, ok, a, want, ahead)
		}
	}
	appended := func(seqs ...uint64) {
		for _, seq := range seqs {
			all.appended(eventstore.Commit{Seq: seq})
		}
	}
	takes(0, false)
	appended(2) // was read
	takes(0, false)
	appended(5, 3)
	takes(3, false)
	takes(0, true)
	appended(4)
	takes(4, false)
	takes(5, false)
	takes(0, false)
	all.setHead(6)
	takes(0, true)
	appended(6, 8)
	f.resumeAt(7) // a person read 6 from the log
	takes(0, true)
	f.resumeAt(8)
	takes(8, false)
	if len(f.commits) > 0 {
		t.Errorf("it keeps %v", f.commits)
	}
	for seq := range uint64(maxLocalCommits + 1) {
		appended(9 + seq)
	}
	takes(0, true) // it keeps not more than most, and what it forgot is in the log
	all.remove(f)
	if appended(10 + maxLocalCommits); len(all.all) > 0 {
		t.Error("nobody reads, and it is fed")
	}
}

// alone opens the log of a server as one that nobody else appends to.
func alone(t *testing.T, server *natstest.Server) *Store {
	t.Helper()
	s, err := Open(t.Context(), server.JetStream(t), Config{Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatAStoreAppendsIsNotDelivered(t *testing.T) {
	s := alone(t, natstest.Start(t, natstest.Options{}))
	eventstoretest.Grow(t, s, "before", 3, eventstore.Commit{})
	tail := eventstoretest.Follow(t, s, 1)
	for range 3 {
		tail.Next(t)
	}
	tail.CaughtUp(t)
	for _, want := range eventstoretest.Grow(t, s, "a", 50, eventstore.Commit{}) {
		if c := tail.Next(t); c.Seq != want.Seq || c.Chain != want.Chain || string(c.Data) != string(want.Data) {
			t.Fatalf("read %+v, want %+v", c, want)
		}
	}
	delivered := uint64(0)
	for info := range s.stream.ListConsumers(t.Context()).Info() {
		delivered += info.Delivered.Consumer
	}
	if delivered != 3 {
		t.Errorf("the server delivered %d commits, want the 3 that were there", delivered)
	}
}

func TestWhatOthersAppendIsReadInItsPlace(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	s, other := alone(t, server), alone(t, server)
	tails := []*eventstoretest.Tail{eventstoretest.Follow(t, s, 1), eventstoretest.Follow(t, other, 1)}
	var want []eventstore.Commit
	for i, by := range []*Store{s, other, other, s, s, other} {
		want = append(want, eventstoretest.Grow(t, by, fmt.Sprintf("i%d", i), 5, eventstore.Commit{})...)
	}
	for _, tail := range tails {
		for _, w := range want {
			if c := tail.Next(t); c.Seq != w.Seq || c.Chain != w.Chain {
				t.Fatalf("read %d of %s, want %d of %s", c.Seq, c.Instance, w.Seq, w.Instance)
			}
		}
	}
}

// An older copy of the log that has grown to where it was read is noticed though
// it is the same log, and long enough.
func TestALogThatWasCutShortAndGrewIsDamaged(t *testing.T) {
	for name, alone := range map[string]bool{"among others": false, "alone": true} {
		t.Run(name, func(t *testing.T) {
			server := natstest.Start(t, natstest.Options{})
			s, err := Open(t.Context(), server.JetStream(t), Config{Alone: alone})
			if err != nil {
				t.Fatal(err)
			}
			eventstoretest.Grow(t, s, "a", 3, eventstore.Commit{})
			tail := eventstoretest.Follow(t, s, 1)
			for range 3 {
				tail.Next(t)
			}
			older := t.TempDir()
			server.Stop()
			replace(t, older, server.Dir)
			server.Resume(t)
			eventstoretest.Grow(t, s, "b", 3, eventstore.Commit{})
			for range 3 {
				tail.Next(t)
			}
			server.Stop()

			elsewhere := natstest.Start(t, natstest.Options{Dir: older})
			other, err := Open(t.Context(), elsewhere.JetStream(t), Config{})
			if err != nil {
				t.Fatal(err)
			}
			eventstoretest.Grow(t, other, "c", 3, eventstore.Commit{}) // as many as it lost
			elsewhere.Stop()
			replace(t, server.Dir, older)
			server.Resume(t)
			if err := tail.End(t); !errors.Is(err, eventstore.ErrCorrupt) || !strings.Contains(err.Error(), "is not the one that was read") {
				t.Errorf("got %v, want ErrCorrupt", err)
			}
		})
	}
}

// replace makes a directory a copy of another.
func replace(t *testing.T, dir, from string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(from))); err != nil {
		t.Fatal(err)
	}
}
