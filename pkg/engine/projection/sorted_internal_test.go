package projection

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A sorted set has the values of a map, in order, however they came and went.
func TestASortedSetIsAMapInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, model := sorted[string]{id: func(s *string) string { return *s }}, map[string]bool{}
		width := rapid.SampledFrom([]int{1, 2, 3}).Draw(t, "width")
		for i := range rapid.IntRange(0, 3*blockSize).Draw(t, "values") {
			id := string([]byte{byte(i >> 8), byte(i), byte(i * 7)}[3-width:])
			if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
				if _, found := set.remove(id); found != model[id] {
					t.Fatalf("%q was removed: %t", id, found)
				}
				delete(model, id)
				continue
			}
			if _, replaced := set.put(id); replaced != model[id] {
				t.Fatalf("%q was replaced: %t", id, replaced)
			}
			model[id] = true
		}
		var got []string
		for last, more := "", true; more; {
			more = false
			for id := range set.behind(last) {
				got, more = append(got, *id), true
			}
			if more {
				last = got[len(got)-1]
			}
		}
		if want := slices.Sorted(maps.Keys(model)); !slices.Equal(got, want) {
			t.Fatalf("it has %q, want %q", got, want)
		}
		for _, b := range set.blocks {
			if len(b) == 0 || len(b) > blockSize {
				t.Fatalf("a block has %d values", len(b))
			}
		}
	})
}
