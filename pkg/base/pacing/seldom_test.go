package pacing_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/base/pacing"
)

func TestAnEventOfStrangersPassesNowAndThen(t *testing.T) {
	var r pacing.Seldom[int]
	at := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	passed := 0
	for n := range 1000 {
		if _, now := r.Note(401, at.Add(time.Duration(n)*time.Millisecond)); now {
			passed++
		}
	}
	if _, now := r.Note(503, at); !now || passed != 1 {
		t.Errorf("%d pass, the other %t", passed, now)
	}
	if more, now := r.Note(401, at.Add(pacing.SeldomEvery)); !now || more != 999 {
		t.Errorf("%d more, %t", more, now)
	}
}
