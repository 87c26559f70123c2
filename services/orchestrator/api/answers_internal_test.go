package api

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/pkg/wire"
)

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
