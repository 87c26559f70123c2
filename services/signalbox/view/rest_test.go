package view_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
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
		{"a person has taken it since", []instance.Event{limit, instance.Claimed{}}, false},
		{"a person has had it tried again", []instance.Event{limit, instance.Dispatched{}}, false},
	} {
		in := view.Instance{}.Resting(now, []instance.Commit{{Events: c.events}})
		if (in.Rest != nil) != c.rests || c.rests && in.Rest.Reason != "limit" {
			t.Errorf("%s: %+v", c.name, in.Rest)
		}
	}
}

func TestTheLastFaultOfAStateIsKnownUntilTheInstanceMoves(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	denied := instance.Released{Agent: "pm-1", Fault: true, Reason: "403 the issue is locked"}
	for name, c := range map[string]struct {
		events []instance.Event
		want   string
	}{
		"of one":                               {[]instance.Event{denied}, denied.Reason},
		"though taken again":                   {[]instance.Event{denied, instance.Claimed{}}, denied.Reason},
		"the newest":                           {[]instance.Event{instance.Released{Fault: true, Reason: "502"}, denied}, denied.Reason},
		"not after a move":                     {[]instance.Event{denied, instance.Moved{}}, ""},
		"not of what was ended":                {[]instance.Event{instance.Released{Reason: "stopping"}}, ""},
		"after a question to people":           {[]instance.Event{denied, instance.Asked{Number: 1}, instance.Answered{Number: 1}}, denied.Reason},
		"not after a question to another role": {[]instance.Event{denied, instance.Asked{Number: 2, To: "developer"}}, ""},
		"not after the answer of another role": {[]instance.Event{denied, instance.Answered{Number: 2}}, ""},
	} {
		in := view.Of(wire.FullView(instance.Instance{Questions: []instance.Question{{Number: 1}, {Number: 2, To: "developer"}}})).Resting(now, []instance.Commit{{Events: c.events}})
		got := ""
		if in.LastFault != nil {
			got = in.LastFault.Reason
		}
		if got != c.want {
			t.Errorf("%s it is %q, want %q", name, got, c.want)
		}
	}
}
