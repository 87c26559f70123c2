package api

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

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

// An agent has so many commands under way: an answer that is late by a millisecond
// has the next ones wait for others to go with.
func TestAnswersWaitForThoseThatAreOnTheirWay(t *testing.T) {
	for _, c := range []struct {
		name    string
		waiting []int // claims
		answer  []int // places, in turn
		sent    []int // how many answers are in each message, at once
		later   []int // a millisecond after that
	}{
		{"all at once", nil, []int{0, 1, 2}, []int{3}, nil},
		{"one, and then the others", nil, []int{1}, nil, []int{1}},
		{"none waits for a claim that waits", []int{0}, []int{1, 2}, []int{2}, nil},
		{"nor does that for anything, later", []int{0}, []int{1, 2, 0}, []int{2, 1}, nil},
		{"but at first it may go with others", []int{0}, []int{0, 1, 2}, []int{3}, nil},
		{"claims that wait, alone", []int{0, 1, 2}, []int{2, 0}, []int{1, 1}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent []int
				a := &answers{left: 3, most: 1 << 10, send: func(data []byte) {
					n := 0
					if err := wire.Answers(data, func(uint64, []byte) { n++ }); err != nil {
						t.Error(err)
					}
					sent = append(sent, n)
				}}
				for _, place := range c.waiting {
					a.waits(place)
				}
				for _, place := range c.answer {
					a.add(place, []byte("reply"))
				}
				now := func() []int { a.mu.Lock(); defer a.mu.Unlock(); return sent }
				if got := now(); !slices.Equal(got, c.sent) {
					t.Errorf("at once it sent %v, want %v", got, c.sent)
				}
				time.Sleep(gather)
				synctest.Wait()
				if later := now()[len(c.sent):]; !slices.Equal(later, c.later) {
					t.Errorf("later it sent %v, want %v", later, c.later)
				}
			})
		})
	}
}
