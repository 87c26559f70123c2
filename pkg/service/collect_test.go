package service

import (
	"context"
	"runtime/debug"
	"testing"
)

func TestTheHeapMayGrowByItselfOrByTheHeadroom(t *testing.T) {
	for live, want := range map[uint64]int{0: 1600, 1 << 20: 1600, 8 << 20: 800, 32 << 20: 200, 64 << 20: 100, 1 << 30: 100} {
		if got := percent(live); got != want {
			t.Errorf("of %d bytes it may grow by %d %%, want %d", live, got, want)
		}
	}
}

func TestWhatTheOperatorSaysOfTheCollectorStands(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	for _, c := range []struct {
		gogc    string
		changed bool
	}{{"100", false}, {"", true}} {
		t.Setenv("GOGC", c.gogc)
		ctx, stop := context.WithCancel(t.Context())
		CollectLess(ctx)
		if got := debug.SetGCPercent(100); (got != 100) != c.changed {
			t.Errorf("with GOGC=%q the heap may grow by %d %%", c.gogc, got)
		}
		stop()
	}
}
