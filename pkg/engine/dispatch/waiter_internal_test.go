package dispatch

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// A process that was paused finds those who wait whose time is over before their timers
// ring.
func TestWhoseTimeIsOverIsGivenNothing(t *testing.T) {
	d := New(nil, nil)
	for _, name := range []string{"late", "here"} {
		d.Wait(instance.Claim{Role: "pm", Agent: name}, time.Hour, func(instance.Instance, []instance.Event, error) {})
	}
	d.roles["pm"].waiting[0].until = time.Now()
	if w := d.Next("pm"); w == nil || w.Claim.Agent != "here" {
		t.Errorf("it takes %+v, want the one whose time is not over", w)
	}
	if w := d.Next("pm"); w != nil {
		t.Errorf("it takes %+v, want none", w)
	}
}
