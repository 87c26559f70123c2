package dispatch

import (
	"testing"

	"pgregory.net/rapid"
)

// Against a list of all that is in the queue.
func TestWhatIsVisibleInAQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q visibility
		var all []int64
		now := rapid.Int64Range(1, 1<<40).Draw(t, "now")
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) { now += rapid.Int64Range(1, 4).Draw(t, "slots") },
			"one more":    func(*rapid.T) { q.add(now); all = append(all, now) },
			"one less": func(t *rapid.T) {
				if len(all) == 0 {
					t.Skip("none")
				}
				i := rapid.IntRange(0, len(all)-1).Draw(t, "which")
				q.remove(all[i])
				all = append(all[:i], all[i+1:]...)
			},
			"": func(t *rapid.T) {
				visible := 0
				for _, slot := range all {
					if slot < now-1 {
						visible++
					}
				}
				if got := q.visible(now); got != visible || q.all != len(all) {
					t.Fatalf("%d of %d are visible, want %d of %d", got, q.all, visible, len(all))
				}
			},
		})
	})
}
