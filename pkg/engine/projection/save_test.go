package projection_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/enginetest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
)

// keptHistory is a history with a snapshot of it, and some more.
func keptHistory(t testing.TB) (*enginetest.History, *enginetest.Snapshots) {
	p, s := enginetest.New(t), enginetest.NewSnapshots()
	e := p.Engine(s.Config("log", 1, nil))
	enginetest.Run(t, e, func() {
		for _, id := range []string{"a", "b"} {
			p.Life(t, e, id+" ended", true)
			p.Life(t, e, id+" lives", false)
		}
		enginetest.Save(t, e)
		p.Life(t, e, "c lives", false)
	})
	return p, s
}

// same has a projection that begins with the snapshot know what one knows that reads all
// of the log, and tell the same.
func same(t *testing.T, h *enginetest.History, s *snapshot.Config) {
	t.Helper()
	guard := eventstore.NewGuard(h.Store)
	guarded := *h
	guarded.Store = guard
	restored, toldByRestored := project(&guarded, s)
	whole, toldByWhole := project(h, nil)
	enginetest.Run(t, restored, func() {})
	enginetest.Run(t, whole, func() {})
	if guard.Err() != nil {
		t.Errorf("it is the log that is said to be damaged: %v", guard.Err())
	}
	if diff := diff(whole, restored); diff != "" {
		t.Errorf("-the whole log +the snapshot and the rest:\n%s", diff)
	}
	for id := range whole.Contents().Live {
		want, _ := h.Store.Load(t.Context(), id)
		for _, p := range []*projection.Projection{whole, restored} {
			if got, err := p.Past(t.Context(), id); err != nil || len(want) == 0 || !cmp.Equal(want, got) {
				t.Errorf("the past of %s: %v\n%s", id, err, cmp.Diff(want, got))
			}
		}
	}
	toldByRestored.check(t, restored)
	toldByWhole.check(t, whole)
}

func TestASnapshotThatIsOfNoUseIsIgnored(t *testing.T) {
	part := func(kind string) func(*enginetest.Snapshots) []byte {
		return func(s *enginetest.Snapshots) []byte {
			for name, data := range s.Parts {
				if strings.Contains(name, kind) {
					return data
				}
			}
			t.Fatal("there is no part of the kind " + kind)
			return nil
		}
	}
	flip := func(of func(*enginetest.Snapshots) []byte) func(*enginetest.History, *enginetest.Snapshots) {
		return func(_ *enginetest.History, s *enginetest.Snapshots) {
			data := of(s)
			data[len(data)/2] ^= 4
		}
	}
	for name, spoil := range map[string]func(*enginetest.History, *enginetest.Snapshots){
		"its index is damaged":  flip(func(s *enginetest.Snapshots) []byte { return s.Index }),
		"what lives is damaged": flip(part("live")),
		"what ended is damaged": flip(part("ended")),
		"its index is cut off":  func(_ *enginetest.History, s *enginetest.Snapshots) { s.Index = s.Index[:10] },
		"a part is gone": func(_ *enginetest.History, s *enginetest.Snapshots) {
			maps.DeleteFunc(s.Parts, func(n string, _ []byte) bool { return strings.Contains(n, "ended") })
		},
		"all parts are gone": func(_ *enginetest.History, s *enginetest.Snapshots) { clear(s.Parts) },
		"the log is another": func(p *enginetest.History, _ *enginetest.Snapshots) { *p = *other(t) },
		"the log is shorter": func(p *enginetest.History, _ *enginetest.Snapshots) { p.Store = memory.New() },
		"it is of a build before this": func(_ *enginetest.History, s *enginetest.Snapshots) {
			reseal(t, s, func(p []byte) []byte { return bytes.Replace(p, []byte{8, 6}, []byte{8, 5}, 1) })
		},
		"it is of another log's name": func(_ *enginetest.History, s *enginetest.Snapshots) {
			reseal(t, s, func(p []byte) []byte { return bytes.Replace(p, []byte("log"), []byte("gol"), 1) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := keptHistory(t)
			spoil(p, s)
			var why error
			same(t, p, s.Config("log", 1, func(err error) { why = err }))
			if why == nil {
				t.Error("nobody was told")
			}
			e := p.Engine(s.Config("log", 1, nil))
			enginetest.Run(t, e, func() { p.Life(t, e, "d", true); enginetest.Save(t, e) })
			same(t, p, s.Config("log", 1, func(err error) { t.Errorf("the next one is ignored, too: %v", err) }))
		})
	}
}

// other is another past of the same length.
func other(t *testing.T) *enginetest.History {
	p := enginetest.New(t)
	e := p.Engine(nil)
	for n := range 10 {
		p.Life(t, e, fmt.Sprint("other ", n), true)
	}
	return p
}

// reseal changes the description of the snapshot as another build had made it.
func reseal(t *testing.T, s *enginetest.Snapshots, change func([]byte) []byte) {
	t.Helper()
	body := s.Index[32:]
	changed := change(bytes.Clone(body))
	if bytes.Equal(body, changed) {
		t.Fatal("nothing was changed")
	}
	sum := sha256.Sum256(changed)
	s.Index = append(sum[:], changed...)
}

func TestASnapshotThatCouldNotBeFinishedLeavesTheOldOne(t *testing.T) {
	errFull := errors.New("the disk is full")
	for _, at := range []string{"put ", "set index", "get index"} {
		t.Run(at, func(t *testing.T) {
			p, s := keptHistory(t)
			e := p.Engine(s.Config("log", 1, nil))
			enginetest.Run(t, e, func() {
				p.Life(t, e, "d", true)
				if err := e.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				s.Fails = func(what string) error {
					if strings.HasPrefix(what, at) {
						return errFull
					}
					return nil
				}
				if err := e.Snapshot(t.Context(), true); !errors.Is(err, errFull) {
					t.Errorf("it ended with %v", err)
				}
				s.Fails = nil
			})
			same(t, p, s.Config("log", 1, func(err error) { t.Errorf("the old one is ignored: %v", err) }))
			enginetest.Run(t, e, func() { enginetest.Save(t, e) }) // what could not be kept is kept with the next
			same(t, p, s.Config("log", 1, func(err error) { t.Errorf("the next one is ignored: %v", err) }))
		})
	}
}

func TestAnOlderSnapshotNeverReplacesANewerOne(t *testing.T) {
	p, s := keptHistory(t)
	slow, fast := p.Engine(s.Config("log", 1, nil)), p.Engine(s.Config("log", 1, nil))
	enginetest.Run(t, slow, func() {
		p.Life(t, slow, "d", true)
		if err := slow.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		var newest []byte
		s.Fails = func(what string) error {
			if strings.Contains(what, "live") && newest == nil { // in the middle of the slow one
				newest = []byte{}
				s.Mu.Unlock()
				defer s.Mu.Lock()
				enginetest.Run(t, fast, func() { p.Life(t, fast, "e", true); enginetest.Save(t, fast) })
				newest = s.Index
			}
			return nil
		}
		if err := slow.Snapshot(t.Context(), true); err != nil {
			t.Errorf("the slow one ended with %v", err)
		}
		if len(newest) == 0 || !bytes.Equal(newest, s.Index) {
			t.Error("the newest snapshot was replaced")
		}
		s.Fails = nil
		revision := s.Revision
		if err := slow.Snapshot(t.Context(), false); err != nil || s.Revision != revision {
			t.Errorf("nothing is new, but %v: revision %d, want %d", err, s.Revision, revision)
		}
	})
	same(t, p, s.Config("log", 1, func(err error) { t.Errorf("it is ignored: %v", err) }))
}

// While a snapshot is made commands go on, and what they do is in it or after it.
func TestASnapshotIsMadeWhileCommandsGoOn(t *testing.T) {
	p, s := enginetest.New(t), enginetest.NewSnapshots()
	ignored := func(err error) { t.Errorf("a snapshot is ignored: %v", err) }
	e := p.Engine(s.Config("log", 1, ignored))
	enginetest.Run(t, e, func() {
		var all sync.WaitGroup
		for worker := range 4 {
			mine := &enginetest.History{Store: p.Store, Definitions: p.Definitions, At: p.At, Commands: worker * 1_000_000}
			all.Go(func() {
				for n := range 400 {
					mine.Life(t, e, fmt.Sprintf("%d-%d", worker, n), n%3 > 0)
				}
			})
		}
		over := make(chan struct{})
		go func() { all.Wait(); close(over) }()
		for going := true; going; {
			select {
			case <-e.Due():
				if err := e.Snapshot(t.Context(), false); err != nil {
					t.Error(err)
				}
				if parts := len(s.Parts); parts > 20 {
					t.Errorf("there are %d parts", parts)
				}
			case <-over:
				going = false
			}
		}
	})
	if len(s.Parts) < 2 {
		t.Fatalf("no snapshot was made: %v", slices.Collect(maps.Keys(s.Parts)))
	}
	same(t, p, s.Config("log", 1, ignored))
}
