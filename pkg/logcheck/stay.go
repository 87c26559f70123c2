package logcheck

import (
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// stay is what is known of the time in one state.
type stay struct {
	since   time.Time
	timeout time.Duration // 0: any time
	level   int           // of the newest deadline that passed, in levels, counted from 1
	parked  bool
}

func (t *trail) parked(e instance.ParkedUntil) {
	if e.State != t.state {
		t.say(From, "%s is parked, and the instance is in %s", e.State, t.state)
	}
	if t.live() {
		t.say(Parking, "%s is parked, and %s holds it until %s", e.State, t.claim().Agent, stamp(t.claim().To))
	}
	t.stay.parked = true
}

// deadline is a part of the timeout: what the policy says or, if it does not, usual.
type deadline struct {
	level  workflow.Level
	policy string
	usual  float64
}

// levels are the deadlines of a stay in the order they are reached.
var levels = []deadline{{workflow.Warning, "warn_at", 0.8}, {workflow.Alert, "alert_at", 1}, {workflow.Escalation, "escalate_at", 1.5}}

func (t *trail) timedOut(e instance.TimedOut) {
	if e.State != t.state {
		t.say(From, "%s timed out, and the instance is in %s", e.State, t.state)
	}
	i := slices.IndexFunc(levels, func(l deadline) bool { return l.level == e.Level })
	if i < 0 || t.stay.timeout == 0 {
		t.say(Deadline, "%s has no deadline of level %q", t.state, e.Level)
		return
	}
	if i < t.stay.level {
		t.say(Deadline, "%s after %s", e.Level, levels[t.stay.level-1].level)
	}
	t.stay.level = max(t.stay.level, i+1)
	part := levels[i].usual
	if t.table != nil {
		if given, ok := t.table.Policy[levels[i].policy].(float64); ok {
			part = given
		}
	}
	due := t.stay.since.Add(time.Duration(float64(t.stay.timeout) * part))
	if t.now.Before(due) {
		t.say(Deadline, "%s of %s at %s, and it is due at %s", e.Level, t.state, stamp(t.now), stamp(due))
	}
	if spent := t.now.Sub(t.stay.since); e.After != spent {
		t.say(Deadline, "%s of %s after %v, and it was entered %v ago", e.Level, t.state, e.After, spent)
	}
}
