package api

import (
	"testing"
	"testing/synctest"

	"github.com/signalbox/signalbox/pkg/wire"
)

// said is what is sent of a batch of n commands.
func said(n int) (*answers, *[]string) {
	sent := new([]string)
	return &answers{left: n, most: 100, send: func(data []byte) { *sent = append(*sent, string(data)) }}, sent
}

func TestWhatIsPromisedIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 4
		for last := range n { // two are promised, and one of all is the last
			out, sent := said(n)
			out.promise("at", []byte("promise"), []int{0, 1})
			var rest []byte
			for i := range n {
				if len(*sent) > 1 {
					t.Errorf("%q was sent before all was answered", *sent)
				}
				switch place := (last + 1 + i) % n; {
				case place > 1:
					rest = wire.AppendAnswer(rest, place, nil)
					out.add(place, nil)
				case !out.kept("at", place):
					t.Errorf("%d is not kept", place)
				}
			}
			if len(*sent) != 2 || (*sent)[1] != string(rest) { // no time has gone by
				t.Errorf("%q was sent, want the promise and %q", *sent, rest)
			}
		}
	})
}

func TestAPromiseThatFitsNoMessageIsNone(t *testing.T) {
	out, sent := said(2)
	if out.promise("at", make([]byte, out.most+1), []int{0, 1}) || len(*sent) > 0 || out.kept("at", 0) || out.kept("at", 1) {
		t.Errorf("%d were sent", len(*sent))
	}
	if !out.promise("at", make([]byte, out.most), []int{0}) || len(*sent) != 1 {
		t.Error("one that fits was not made")
	}
}
