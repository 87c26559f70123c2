package engine

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/instance"
)

// life brings an instance to its end, or leaves it claimed.
func (p *past) life(t testing.TB, e *Engine, id string, ends bool) {
	var now instance.Instance
	do := func(a instance.Action) {
		t.Helper()
		p.n++
		out, err := e.Handle(t.Context(), instance.Command{ID: fmt.Sprint("command-", p.n), Instance: id, Actor: "test", Do: a}, "ranked")
		if err != nil {
			t.Fatal(err)
		}
		now = out.Instance
	}
	do(instance.Open{Issue: instance.Issue{Title: "the title of " + id}})
	do(instance.Claim{Role: "worker", Agent: "agent", Work: now.Work, Lease: time.Hour})
	id = now.ID // the most urgent there was
	if ends {
		do(instance.Report{Token: now.Tokens, Result: instance.Result{Status: instance.Failure}})
	}
}

// kept is a past with a snapshot of it, and some more.
func keptPast(t testing.TB) (*past, *shelf) {
	p, s := newPast(t), newShelf()
	e := p.engine(s.snapshots("log", 1, nil))
	run(t, e, func() {
		for _, id := range []string{"a", "b"} {
			p.life(t, e, id+" ended", true)
			p.life(t, e, id+" lives", false)
		}
		save(t, e)
		p.life(t, e, "c lives", false)
	})
	return p, s
}

func save(t testing.TB, e *Engine) {
	t.Helper()
	if err := e.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Snapshot(t.Context(), true); err != nil {
		t.Fatal(err)
	}
}

// same has an engine that begins with the snapshot know what one knows that reads
// all of the log.
func (p *past) same(t *testing.T, s *Snapshots) {
	t.Helper()
	restored, whole := p.engine(s), p.engine(nil)
	guard := eventstore.NewGuard(p.store)
	restored.Store = guard
	run(t, restored, func() {})
	run(t, whole, func() {})
	if guard.Err() != nil {
		t.Errorf("it is the log that is said to be damaged: %v", guard.Err())
	}
	if diff := cmp.Diff(whole.view.state(), restored.view.state(), cmpopts.EquateEmpty(), cmp.AllowUnexported(record{}, taken{}, piece{}),
		cmpopts.SortSlices(func(a, b uint64) bool { return a < b })); diff != "" {
		t.Errorf("-the whole log +the snapshot and the rest:\n%s", diff)
	}
}

func TestASnapshotThatIsOfNoUseIsIgnored(t *testing.T) {
	part := func(kind string) func(*shelf) []byte {
		return func(s *shelf) []byte {
			for name, data := range s.parts {
				if strings.Contains(name, kind) {
					return data
				}
			}
			t.Fatal("there is no part of the kind " + kind)
			return nil
		}
	}
	flip := func(of func(*shelf) []byte) func(*past, *shelf) {
		return func(_ *past, s *shelf) {
			data := of(s)
			data[len(data)/2] ^= 4
		}
	}
	for name, spoil := range map[string]func(*past, *shelf){
		"its index is damaged":  flip(func(s *shelf) []byte { return s.index }),
		"what lives is damaged": flip(part("live")),
		"what ended is damaged": flip(part("ended")),
		"its index is cut off":  func(_ *past, s *shelf) { s.index = s.index[:10] },
		"a part is gone": func(_ *past, s *shelf) {
			maps.DeleteFunc(s.parts, func(n string, _ []byte) bool { return strings.Contains(n, "ended") })
		},
		"all parts are gone": func(_ *past, s *shelf) { clear(s.parts) },
		"the log is another": func(p *past, _ *shelf) { *p = *other(t) },
		"the log is shorter": func(p *past, _ *shelf) { p.store = memory.New() },
		"it is of a build before this": func(_ *past, s *shelf) {
			s.reseal(t, func(p []byte) []byte { return bytes.Replace(p, []byte{8, format}, []byte{8, format + 1}, 1) })
		},
		"it is of another log's name": func(_ *past, s *shelf) {
			s.reseal(t, func(p []byte) []byte { return bytes.Replace(p, []byte("log"), []byte("gol"), 1) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := keptPast(t)
			spoil(p, s)
			var why error
			p.same(t, s.snapshots("log", 1, func(err error) { why = err }))
			if why == nil {
				t.Error("nobody was told")
			}
			e := p.engine(s.snapshots("log", 1, nil))
			run(t, e, func() { p.life(t, e, "d", true); save(t, e) })
			p.same(t, s.snapshots("log", 1, func(err error) { t.Errorf("the next one is ignored, too: %v", err) }))
		})
	}
}

// other is another past of the same length.
func other(t *testing.T) *past {
	p := newPast(t)
	e := p.engine(nil)
	for n := range 10 {
		p.life(t, e, fmt.Sprint("other ", n), true)
	}
	return p
}

// reseal changes the description of the snapshot as another build had made it.
func (s *shelf) reseal(t *testing.T, change func([]byte) []byte) {
	t.Helper()
	body := s.index[32:]
	changed := change(bytes.Clone(body))
	if bytes.Equal(body, changed) {
		t.Fatal("nothing was changed")
	}
	s.index = append(seal(changed), changed...)
}

func TestASnapshotThatCouldNotBeFinishedLeavesTheOldOne(t *testing.T) {
	errFull := errors.New("the disk is full")
	for _, at := range []string{"put ", "set index", "get index"} {
		t.Run(at, func(t *testing.T) {
			p, s := keptPast(t)
			e := p.engine(s.snapshots("log", 1, nil))
			run(t, e, func() {
				p.life(t, e, "d", true)
				if err := e.catchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				s.fails = func(what string) error {
					if strings.HasPrefix(what, at) {
						return errFull
					}
					return nil
				}
				if err := e.Snapshot(t.Context(), true); !errors.Is(err, errFull) {
					t.Errorf("it ended with %v", err)
				}
				s.fails = nil
			})
			p.same(t, s.snapshots("log", 1, func(err error) { t.Errorf("the old one is ignored: %v", err) }))
			run(t, e, func() { save(t, e) }) // what could not be kept is kept with the next
			p.same(t, s.snapshots("log", 1, func(err error) { t.Errorf("the next one is ignored: %v", err) }))
		})
	}
}

func TestAnOlderSnapshotNeverReplacesANewerOne(t *testing.T) {
	p, s := keptPast(t)
	slow, fast := p.engine(s.snapshots("log", 1, nil)), p.engine(s.snapshots("log", 1, nil))
	run(t, slow, func() {
		p.life(t, slow, "d", true)
		if err := slow.catchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		var newest []byte
		s.fails = func(what string) error {
			if strings.Contains(what, "live") && newest == nil { // in the middle of the slow one
				newest = []byte{}
				s.mu.Unlock()
				defer s.mu.Lock()
				run(t, fast, func() { p.life(t, fast, "e", true); save(t, fast) })
				newest = s.index
			}
			return nil
		}
		if err := slow.Snapshot(t.Context(), true); err != nil {
			t.Errorf("the slow one ended with %v", err)
		}
		if len(newest) == 0 || !bytes.Equal(newest, s.index) {
			t.Error("the newest snapshot was replaced")
		}
		s.fails = nil
		revision := s.revision
		if err := slow.Snapshot(t.Context(), false); err != nil || s.revision != revision {
			t.Errorf("nothing is new, but %v: revision %d, want %d", err, s.revision, revision)
		}
	})
	p.same(t, s.snapshots("log", 1, func(err error) { t.Errorf("it is ignored: %v", err) }))
}

// While a snapshot is made commands go on, and what they do is in it or after it.
func TestASnapshotIsMadeWhileCommandsGoOn(t *testing.T) {
	p, s := newPast(t), newShelf()
	ignored := func(err error) { t.Errorf("a snapshot is ignored: %v", err) }
	e := p.engine(s.snapshots("log", 1, ignored))
	run(t, e, func() {
		var all sync.WaitGroup
		for worker := range 4 {
			mine := &past{store: p.store, defs: p.defs, at: p.at, n: worker * 1_000_000}
			all.Go(func() {
				for n := range 400 {
					mine.life(t, e, fmt.Sprintf("%d-%d", worker, n), n%3 > 0)
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
				if parts := len(s.parts); parts > 20 {
					t.Errorf("there are %d parts", parts)
				}
			case <-over:
				going = false
			}
		}
	})
	if len(s.parts) < 2 {
		t.Fatalf("no snapshot was made: %v", slices.Collect(maps.Keys(s.parts)))
	}
	p.same(t, s.snapshots("log", 1, ignored))
}
