package whatif

import (
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// effect is the part of an event that changes where an instance goes. Texts, timeouts and
// warnings differ with every definition, and change nothing.
type effect struct {
	kind   string
	target string // a state, a role, another instance
	number int
	until  time.Time
}

// equal reports whether two decisions have the same effects in the same order.
func equal(a, b []instance.Event) bool {
	for {
		x, restA, more := firstEffect(a)
		y, restB, moreB := firstEffect(b)
		if more != moreB || x != y {
			return false
		}
		if !more {
			return true
		}
		a, b = restA, restB
	}
}

// firstEffect returns the first effect of events, and the events after it. ok is false if none has an effect.
func firstEffect(events []instance.Event) (one effect, rest []instance.Event, ok bool) {
	for i, e := range events {
		if one, ok := effectOf(e); ok {
			return one, events[i+1:], true
		}
	}
	return effect{}, nil, false
}

// hasEffect reports whether an event has an effect.
func hasEffect(events []instance.Event) bool {
	_, _, ok := firstEffect(events)
	return ok
}

// effectOf returns the effect of an event. ok is false if it has none.
func effectOf(e instance.Event) (one effect, ok bool) {
	switch e := e.(type) {
	case instance.Opened:
		return effect{kind: "opened", target: e.State}, true
	case instance.Moved:
		return effect{kind: "moved", target: e.To}, true
	case instance.Dispatched:
		return effect{kind: "dispatched", target: e.Owner, number: e.Question}, true
	case instance.Claimed:
		return effect{kind: "claimed", target: e.Role}, true
	case instance.Asked:
		return effect{kind: "asked", target: e.To}, true
	case instance.Escalated:
		if !e.RequiresHuman {
			return effect{}, false
		}
		return effect{kind: "escalated"}, true
	case instance.Resolved:
		return effect{kind: "resolved", number: e.Number}, true
	case instance.Paused:
		return effect{kind: "paused"}, true
	case instance.Resumed:
		return effect{kind: "resumed"}, true
	case instance.CancelledBy:
		return effect{kind: "cancelled"}, true
	case instance.Reopened:
		return effect{kind: "reopened"}, true
	case instance.Released:
		return effect{kind: "released"}, true
	case instance.ParkedUntil:
		return effect{kind: "parked", target: string(e.WaitsFor), until: e.Until}, true
	case instance.Spawned:
		return effect{kind: "spawned", target: e.Workflow + " " + e.State}, true
	case instance.Woken:
		return effect{kind: "woken"}, true
	}
	return effect{}, false
}
