package engine_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
)

// What an instance takes of the memory while it lives and when it has ended.
func TestAnInstanceTakesLittleMemory(t *testing.T) {
	for name, c := range map[string]struct {
		steps   int
		claimed bool
		most    uint64 // bytes
	}{
		"live":  {4, true, 17 << 7},
		"late":  {7, true, 5 << 9},
		"ended": {8, false, 300},
	} {
		t.Run(name, func(t *testing.T) {
			const instances = 3000
			log, defs := newSyntheticLog(t, instances, c.steps, c.claimed)
			before := inUse()
			var noted *projection.Changes
			e := newFollowing(t, engine.Config{Store: log, Definitions: defs, Now: time.Now}, func(e *engine.Engine) { noted = e.Changes() })
			if n := len(noted.Take()); n != instances {
				t.Errorf("it noted %d", n)
			}
			each := (inUse() - before) / instances
			t.Logf("%d bytes each", each)
			if each > c.most {
				t.Errorf("each takes %d bytes, want at most %d", each, c.most)
			}
			runtime.KeepAlive(noted)
			all, err := e.List(t.Context(), func(in instance.Instance) bool {
				return in.Issue.Title != "" && (in.Closed == instance.Ended) == (c.steps == 8)
			})
			if err != nil || len(all) != instances {
				t.Errorf("it has %d instances, %v", len(all), err)
			}
		})
	}
}

func inUse() uint64 {
	runtime.GC()
	runtime.GC() // what had a finalizer is gone by the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
