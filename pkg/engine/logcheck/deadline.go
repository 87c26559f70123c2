package logcheck

import (
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// stay is the current stay in a state.
type stay struct {
	state   string        // of a wait that was left
	since   time.Time     // of a resumed wait: since it began
	timeout time.Duration // 0: unlimited
	level   int           // position of the newest recorded deadline in levels, from 1; 0: none
	parked  bool
}

// resume continues the newest stay in the wait that is entered.
func (t *instanceChecker) resume(state string) {
	if t.leftWait.state == state {
		t.stay.since, t.stay.level = t.leftWait.since, t.leftWait.level
	}
}

func (t *instanceChecker) parked(e instance.ParkedUntil) {
	if e.State != t.state {
		t.report(From, "%s is parked, and the instance is in %s", e.State, t.state)
	}
	if t.claimLive() {
		t.report(Parking, "%s is parked, and %s holds it until %s", e.State, t.newestClaim().Agent, stamp(t.newestClaim().To))
	}
	t.stay.parked = true
}

// deadlineLevel is the fraction of the timeout at which a deadline is reached: the
// policy's or, without one, fraction.
type deadlineLevel struct {
	level    workflow.Level
	policy   string
	fraction float64
}

// levels are the deadlines of a stay, in the order they are reached.
var levels = []deadlineLevel{{workflow.Warning, "warn_at", 0.8}, {workflow.Alert, "alert_at", 1}, {workflow.Escalation, "escalate_at", 1.5}}

func (t *instanceChecker) timedOut(e instance.TimedOut) {
	if e.State != t.state {
		t.report(From, "%s timed out, and the instance is in %s", e.State, t.state)
	}
	i := slices.IndexFunc(levels, func(l deadlineLevel) bool { return l.level == e.Level })
	if i < 0 || t.stay.timeout == 0 {
		t.report(Deadline, "%s has no deadline of level %q", t.state, e.Level)
		return
	}
	if i < t.stay.level {
		t.report(Deadline, "%s after %s", e.Level, levels[t.stay.level-1].level)
	}
	t.stay.level = max(t.stay.level, i+1)
	fraction := levels[i].fraction
	if t.table != nil {
		if set, ok := t.table.Policy[levels[i].policy].(float64); ok {
			fraction = set
		}
	}
	due := t.stay.since.Add(time.Duration(float64(t.stay.timeout) * fraction))
	if t.now.Before(due) {
		t.report(Deadline, "%s of %s at %s, and it is due at %s", e.Level, t.state, stamp(t.now), stamp(due))
	}
	if elapsed := t.now.Sub(t.stay.since); e.After != elapsed {
		t.report(Deadline, "%s of %s after %v, and it was entered %v ago", e.Level, t.state, e.After, elapsed)
	}
}
