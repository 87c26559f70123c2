package view_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/view"
)

func TestAnInstanceRestsUntilItIsTakenOrTheFaultIsOver(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	limit := view.Event{Event: "released", Fault: true, Reason: "limit", Until: now.Add(time.Hour)}
	for _, c := range []struct {
		name   string
		events []view.Event
		rests  bool
	}{
		{"nothing has happened", nil, false},
		{"a fault with a known end", []view.Event{{Event: "claimed"}, limit}, true},
		{"a fault without one", []view.Event{{Event: "claimed"}, {Event: "released", Fault: true}}, false},
		{"one that is over", []view.Event{{Event: "released", Until: now}}, false},
		{"somebody has taken it since", []view.Event{limit, {Event: "claimed"}}, false},
		{"somebody has had it tried again", []view.Event{limit, {Event: "dispatched"}}, false},
	} {
		in := view.Instance{}.Resting(now, c.events)
		if (in.Rest != nil) != c.rests || c.rests && in.Rest.Reason != "limit" {
			t.Errorf("%s: %+v", c.name, in.Rest)
		}
	}
}
