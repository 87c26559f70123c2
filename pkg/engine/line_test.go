package engine

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
)

// A process that was paused finds those in its line whose time is over before
// their timers ring.
func TestWhoseTimeIsOverIsGivenNothing(t *testing.T) {
	l := new(lines)
	for _, name := range []string{"late", "here"} {
		l.wait(&waiter{claim: instance.Claim{Role: "pm", Agent: name}, told: func(Outcome, error) {}}, time.Hour)
	}
	l.of["pm"].waiting[0].until = time.Now()
	if w := l.next("pm"); w == nil || w.claim.Agent != "here" {
		t.Errorf("it takes %+v, want the one whose time is not over", w)
	}
	if w := l.next("pm"); w != nil {
		t.Errorf("it takes %+v, want none", w)
	}
}
