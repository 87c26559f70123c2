package sandbox

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestCaptureKeepsTheFirstAndTheLastPartOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := capture{half: rapid.IntRange(1, 9).Draw(t, "half")}
		var all []byte
		for _, p := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 30)).Draw(t, "writes") {
			c.write(p)
			all = append(all, p...)
		}
		want, lost := all, max(len(all)-2*c.half, 0)
		if lost > 0 {
			want = fmt.Appendf(bytes.Clone(all[:c.half]), "\n[… %d bytes left out …]\n", lost)
			want = append(want, all[len(all)-c.half:]...)
		}
		got, dropped := c.bytes()
		if !bytes.Equal(got, want) || dropped != int64(lost) {
			t.Fatalf("kept %q (dropped %d), want %q (%d)", got, dropped, want, lost)
		}
		if cap(c.tail) > 8*c.half+64 {
			t.Fatalf("holds %d bytes for a half of %d", cap(c.tail), c.half)
		}
	})
}

func TestLinesComeWholeWhateverTheWritesWere(t *testing.T) {
	var got []string
	s := newSink(Command{Line: func(l string) { got = append(got, l) }, MaxOutput: 100}, newTimer(0))
	for _, p := range []string{"a", "b\nc\r\n", "\n", string(bytes.Repeat([]byte("x"), maxLine+10)), "\nlast"} {
		s.stdout([]byte(p))
	}
	s.finish()
	want := []string{"ab", "c", "", string(bytes.Repeat([]byte("x"), maxLine)), "last"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("lines %q, want %q", got, want)
	}
}
