package projection

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

func TestTheNewestCommitsAreKeptWithinLimits(t *testing.T) {
	var r recent
	r.add(eventstore.Commit{Seq: 1})
	if len(r.all) > 0 {
		t.Error("one is kept that nobody wants")
	}
	if _, ok := r.after(0); ok {
		t.Error("an empty one has all")
	}
	const n = 10 * maxRecent
	for seq := uint64(1); seq <= n; seq++ {
		r.add(eventstore.Commit{Seq: seq, Data: make([]byte, 100)})
		if seq%1000 == 0 {
			r.after(seq)
		}
		if len(r.all) > 2*maxRecent+2 {
			t.Fatalf("it keeps room for %d", len(r.all))
		}
	}
	for after, want := range map[uint64]int{0: -1, n - maxRecent - 1: -1, n - maxRecent: maxRecent, n - 1: 1, n: 0, n + 7: 0} {
		some, ok := r.after(after)
		if ok != (want >= 0) || ok && len(some) != want || len(some) > 0 && (some[0].Seq != after+1 || some[len(some)-1].Seq != n) {
			t.Errorf("after %d it has %d, %v, want %d", after, len(some), ok, want)
		}
	}
	for seq := uint64(n + 1); seq <= n+20; seq++ {
		r.add(eventstore.Commit{Seq: seq, Data: make([]byte, 1<<20)})
	}
	if some, ok := r.after(n + 12); !ok || len(some) != 8 || r.bytes > maxRecentBytes {
		t.Errorf("of large ones it has %d, %v, %d bytes", len(some), ok, r.bytes)
	}
	if _, ok := r.after(n + 11); ok {
		t.Error("it has more than its limit")
	}
	for seq := uint64(n + 21); seq <= n+21+maxRecent; seq++ {
		r.add(eventstore.Commit{Seq: seq})
	}
	if len(r.all) > 0 {
		t.Errorf("%d are kept that nobody has wanted for long", len(r.all))
	}
	r.add(eventstore.Commit{Seq: n + 22 + maxRecent})
	r.reset()
	if _, ok := r.after(n + 20); ok {
		t.Error("after a reset it has some")
	}
}
