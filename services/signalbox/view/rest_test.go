package view_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

func TestAnInstanceRestsUntilItIsTakenOrTheFaultIsOver(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	limit := instance.Released{Fault: true, Reason: "limit", Until: now.Add(time.Hour)}
	for _, c := range []struct {
		name   string
		events []instance.Event
		rests  bool
	}{
		{"nothing has happened", nil, false},
		{"a fault with a known end", []instance.Event{instance.Claimed{}, limit}, true},
		{"a fault without one", []instance.Event{instance.Claimed{}, instance.Released{Fault: true}}, false},
		{"one that is over", []instance.Event{instance.Released{Fault: true, Until: now}}, false},
		{"somebody has taken it since", []instance.Event{limit, instance.Claimed{}}, false},
		{"somebody has had it tried again", []instance.Event{limit, instance.Dispatched{}}, false},
	} {
		in := view.Instance{}.Resting(now, []instance.Commit{{Events: c.events}})
		if (in.Rest != nil) != c.rests || c.rests && in.Rest.Reason != "limit" {
			t.Errorf("%s: %+v", c.name, in.Rest)
		}
	}
}
