package series_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/series"
)

// A series grows as a slice does, and what was made from the same one stays as it is.
func TestASeriesIsASliceThatNobodyWritesTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, want := []series.List[int]{{}}, [][]int{nil}
		for n := range rapid.IntRange(1, 200).Draw(t, "steps") {
			from := len(all) - 1
			if rapid.IntRange(0, 9).Draw(t, "older") == 0 {
				from = rapid.IntRange(0, from).Draw(t, "from")
			}
			all, want = append(all, all[from].Append(n)), append(want, append(slices.Clone(want[from]), n))
		}
		for i, s := range all {
			if got := s.Slice(); !slices.Equal(got, want[i]) || s.Len() != len(want[i]) {
				t.Fatalf("series %d has %d: %v, want %v", i, s.Len(), got, want[i])
			}
		}
		last, whole := all[len(all)-1], want[len(want)-1]
		if made := series.New(whole...); !made.Equal(last) || made.Equal(last.Append(-1)) {
			t.Errorf("made at once it is %v, one by one %v", made.Slice(), last.Slice())
		}
		n := rapid.IntRange(0, len(whole)+3).Draw(t, "n")
		if got := last.Last(n); !slices.Equal(got, whole[max(0, len(whole)-n):]) {
			t.Errorf("the newest %d of %v are %v", n, whole, got)
		}
		if back := slices.Collect(last.Backward()); !slices.Equal(back, reversed(whole)) {
			t.Errorf("backward it is %v", back)
		}
		var pieces []int
		for some := range last.Blocks() {
			pieces = append(pieces, some...)
		}
		if !slices.Equal(pieces, whole) {
			t.Errorf("in pieces it is %v, want %v", pieces, whole)
		}
		if text, err := json.Marshal(last); err != nil || string(text) != string(encoded(t, whole)) {
			t.Errorf("as JSON it is %s, %v", text, err)
		}
	})
}

func reversed(s []int) []int {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

func encoded(t *rapid.T, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
