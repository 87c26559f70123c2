package merge

import (
	"fmt"
	"slices"
	"time"
)

// states is what each word of statuses and check runs means. A word that is
// not here is unknown.
var states = map[string]Verdict{
	"success": Pass, "neutral": Pass, "skipped": Pass,
	"failure": Fail, "error": Fail, "timed_out": Fail, "cancelled": Fail, "action_required": Fail, "startup_failure": Fail,
	"pending": Pending, "queued": Pending, "in_progress": Pending, "waiting": Pending, "requested": Pending, "expected": Pending,
	"stale": Pending, // the forge gave up on it: it is to be run again
}

func (c Check) verdict() Verdict {
	if v, ok := states[c.State]; ok {
		return v
	}
	return Unknown
}

func (c Check) evidence() Evidence {
	says := c.State
	if c.Note != "" {
		says += ": " + c.Note
	}
	return Evidence{What: c.Kind + " " + c.Name, Says: says, URL: c.URL}
}

// mendable are the states of checks that a change of the work may mend. People mend
// what was cancelled or asks for an action of theirs.
var mendable = []string{"failure", "error", "timed_out", "startup_failure"}

// Failing returns the checks of the head that a change of the work may mend, and that the
// rules demand to be green.
func Failing(s Snapshot, r Rules) []Check {
	demands := func(c Check) bool {
		return slices.Contains(r.Checks, c.Name) || slices.ContainsFunc(s.Protection.Checks, func(d RequiredCheck) bool { return d.by(c) })
	}
	var all []Check
	for _, c := range s.Checks {
		if slices.Contains(mendable, c.State) && !slices.Contains(r.OwnChecks, c.Name) && (!r.RequiredOnly || demands(c)) {
			all = append(all, c)
		}
	}
	return all
}

// required: everything demanded has been reported and is green. A status and a
// run of one name must both be, and so must the runs of several apps, unless
// the rule names one.
func (in assessment) required() Gate {
	if why, missing := in.s.unread(PartProtection, PartChecks); missing {
		return gate(GateRequiredChecks, Unknown, "%s", why)
	}
	demanded := slices.Clone(in.s.Protection.Checks)
	for _, name := range in.r.Checks {
		if !slices.Contains(demanded, RequiredCheck{Name: name}) {
			demanded = append(demanded, RequiredCheck{Name: name})
		}
	}
	var all tally
	for _, d := range demanded {
		if slices.Contains(in.r.OwnChecks, d.Name) {
			continue
		}
		verdict, found := Pass, false
		for _, c := range in.s.Checks {
			if d.by(c) {
				verdict, found = worse(verdict, c.verdict()), true
				all.evidence = append(all.evidence, c.evidence())
			}
		}
		if !found {
			verdict = Pending
			all.evidence = append(all.evidence, Evidence{What: d.String(), Says: "not reported"})
		}
		all.add(d.Name, verdict)
	}
	return all.gate(GateRequiredChecks, fmt.Sprintf("all %d required checks are green", len(all.verdicts)))
}

// tally is how checks fare together.
type tally struct {
	names    []string
	verdicts []Verdict
	evidence []Evidence
}

func (t *tally) add(name string, v Verdict) {
	t.names, t.verdicts = append(t.names, name), append(t.verdicts, v)
}

// gate is the worst of all, and names those that are as bad.
func (t *tally) gate(name, pass string) Gate {
	verdict, deciding := Pass, []string{}
	for _, v := range t.verdicts {
		verdict = worse(verdict, v)
	}
	for at, v := range t.verdicts {
		if v == verdict {
			deciding = append(deciding, t.names[at])
		}
	}
	reason := pass
	if verdict != Pass {
		reason = map[Verdict]string{
			Fail: "not green: ", Pending: "awaited: ", Unknown: "reported in words that are not known: ",
		}[verdict] + names(slices.Compact(deciding))
	}
	return gate(name, verdict, "%s", reason).with(t.evidence...)
}

// by reports whether the check is the one demanded. Statuses do not tell the
// app that reported them, so they count for any.
func (d RequiredCheck) by(c Check) bool {
	return c.Name == d.Name && (d.App == 0 || c.App == 0 || c.App == d.App)
}

func (d RequiredCheck) String() string {
	if d.App == 0 {
		return d.Name
	}
	return fmt.Sprintf("%s by app %d", d.Name, d.App)
}

// noneFailing: nothing reported is red or still runs, and something was
// reported at all.
func (in assessment) noneFailing() Gate {
	if why, missing := in.s.unread(PartChecks); missing {
		return gate(GateNoFailingChecks, Unknown, "%s", why)
	}
	others := slices.DeleteFunc(slices.Clone(in.s.Checks), func(c Check) bool { return slices.Contains(in.r.OwnChecks, c.Name) })
	if len(others) == 0 {
		return in.noChecks()
	}
	if in.r.RequiredOnly {
		return gate(GateNoFailingChecks, Pass, "only the required checks count")
	}
	var all tally
	for _, c := range others {
		all.add(c.Name, c.verdict())
		if c.verdict() != Pass {
			all.evidence = append(all.evidence, c.evidence())
		}
	}
	return all.gate(GateNoFailingChecks, fmt.Sprintf("all %d checks are green", len(others)))
}

// noChecks judges a head without any check: checks appear
// some time after a push.
func (in assessment) noChecks() Gate {
	if !in.r.AllowNoChecks {
		return gate(GateNoFailingChecks, Pending, "no check has reported yet")
	}
	if why, missing := in.s.unread(PartPushes); missing {
		return gate(GateNoFailingChecks, Unknown, "when the head was pushed is not known: %s", why)
	}
	pushed := in.s.pushedAt()
	if pushed.IsZero() {
		return gate(GateNoFailingChecks, Unknown, "when the head was pushed is not known: no push of it is on record")
	}
	wait := in.r.Dwell
	if wait == 0 {
		wait = dwell
	}
	if left := wait - in.s.ReadAt.Sub(pushed); left > 0 {
		return gate(GateNoFailingChecks, Pending, "no check has reported; for another %v one may", left)
	}
	return gate(GateNoFailingChecks, Pass, "no check has reported in %v, which the rules allow", wait)
}

// Unchecked reports whether no check has reported on the head for a time after its push, and
// the branch demands none: the repository may have no CI. own are the names of our checks.
func Unchecked(s Snapshot, own []string, after time.Duration) bool {
	if _, missing := s.unread(PartChecks, PartProtection, PartPushes); missing {
		return false
	}
	others := slices.ContainsFunc(s.Checks, func(c Check) bool { return !slices.Contains(own, c.Name) })
	pushed := s.pushedAt()
	return !others && len(s.Protection.Checks) == 0 && !pushed.IsZero() && s.ReadAt.Sub(pushed) >= after
}
