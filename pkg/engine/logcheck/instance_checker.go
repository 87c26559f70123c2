package logcheck

import (
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// instanceChecker checks the commits of one instance. It keeps no more of the
// instance than the rules need.
type instanceChecker struct {
	id           string
	lean         bool // only the newest claim is kept
	commits      int
	workflow     string
	definition   string
	table        *workflow.Definition // nil: unknown definition
	state        string
	owner        string
	kind         workflow.Kind
	paused       bool
	end          string   // how it ended, for the text; empty: it has not
	closedBefore bool     // it had ended before the newest commit
	endedBefore  []string // the states of its ends that were undone
	claims       []*Interval
	claimHeld    bool // the newest claim was not given up; its lease may have ended
	token        uint64
	work         uint64 // newest commit that dispatched to the state's owner; 0: the newest dispatch was a question
	direct       bool   // the newest claim was made by that commit
	unjudged     bool   // a commit is missing or unreadable: its state is unknown
	stay         stay
	leftWait     stay // the newest stay in a wait that was left
	discussion   discussion
	stated       statements
	failures     map[string]int
	links        map[string]bool // by instance: whether its end is recorded

	seq    uint64 // newest commit
	now    time.Time
	report func(rule Rule, format string, args ...any)
}

// reportFatal reports a violation after which no later event of the instance can be
// judged.
func (t *instanceChecker) reportFatal(rule Rule, format string, args ...any) {
	t.unjudged = true
	t.report(rule, format, args...)
}

// check applies one event and reports the rules it violates. Its switch has a case
// for every event.
func (t *instanceChecker) check(e instance.Event, k *Checker) {
	if t.checkAdmitted(e); t.unjudged {
		return
	}
	switch e := e.(type) {
	case instance.Opened:
		t.open(e, k.find)
	case instance.Claimed:
		t.claimed(e)
	case instance.LeaseExtended:
		t.extended(e)
	case instance.Released:
		t.checkToken("a release", e.Token)
		t.endClaim()
	case instance.Reported:
		t.reported(e)
	case instance.Moved:
		t.moved(e)
	case instance.Dispatched:
		t.dispatched(e)
	case instance.Paused:
		t.endClaim()
		t.paused = true
	case instance.Resumed:
		t.paused = false
	case instance.CancelledBy:
		t.endClaim()
		t.end = "was cancelled"
	case instance.Reopened:
		t.reopened()
	case instance.Migrated:
		t.migrated(e, k.find)
	case instance.Handed:
		t.handed(e)
	case instance.Asked:
		t.asked(e)
	case instance.Answered:
		t.answered(e)
	case instance.Escalated:
		t.escalated(e)
	case instance.Resolved:
		t.resolved(e)
	case instance.ParkedUntil:
		t.parked(e)
	case instance.TimedOut:
		t.timedOut(e)
	case instance.Spawned:
		t.addLink(e.Instance)
	case instance.LinkEnded:
		t.linkEnded(e, k)
	case instance.Signalled:
		t.checkEvidence(t.state, workflow.Human, e.Actor, false, e.Evidence)
	case instance.Remembered:
		t.remember(e.Vars)
		return
	case instance.ProposalRefused, instance.StatementRefused, instance.GateRefused, instance.LoopDetected,
		instance.Woken, instance.Noted, instance.Spent, instance.BudgetRaised, instance.DayRaised:
		// no rule depends on them
	}
	t.stated.set = false
}

// checkAdmitted checks whether the instance can have such an event at all.
func (t *instanceChecker) checkAdmitted(e instance.Event) {
	_, opens := e.(instance.Opened)
	_, reopens := e.(instance.Reopened)
	switch {
	case !opens && t.state == "":
		t.reportFatal(Opening, "%s comes first: want it opened first", name(e))
	case opens && t.state != "":
		t.report(Opening, "it is opened again, in %s", t.state)
	case t.end == "" && reopens:
		t.report(End, "it is reopened in %s, and has not ended", t.state)
	case t.end != "" && !reopens && !recordOnly(e) && !t.spawnsAtEnd(e):
		t.report(End, "%s comes after it %s in %s", name(e), t.end, t.state)
	}
}

// name returns the type of an event.
func name(e instance.Event) string { return strings.TrimPrefix(fmt.Sprintf("%T", e), "instance.") }

// recordOnly reports whether an event adds to the record and moves nothing.
func recordOnly(e instance.Event) bool {
	switch e.(type) {
	case instance.Signalled, instance.StatementRefused, instance.Noted, instance.LinkEnded:
		return true
	}
	return false
}

// spawnsAtEnd reports whether the event opens a child in the commit that ends the
// instance.
func (t *instanceChecker) spawnsAtEnd(e instance.Event) bool {
	_, spawns := e.(instance.Spawned)
	return spawns && !t.closedBefore
}

// reopened undoes the end. Others may get the notice of that end later.
func (t *instanceChecker) reopened() {
	t.endClaim()
	t.end, t.paused, t.stay.parked = "", false, false
	t.endedBefore = append(t.endedBefore, t.state)
}

// dispatched checks that work goes to the inquired role or, if none is, to the
// owner.
func (t *instanceChecker) dispatched(e instance.Dispatched) {
	inquiry, open := t.discussion.openInquiry()
	switch {
	case e.State != t.state:
		t.report(Owner, "%s is dispatched to %q; the instance is in %s, %s of %q", e.State, e.Owner, t.state, t.kind, t.owner)
	case open && (e.Question != inquiry.number || e.Owner != inquiry.to):
		t.report(Asking, "question %d is dispatched to %q, and question %d to %q is open", e.Question, e.Owner, inquiry.number, inquiry.to)
	case open:
	case e.Question != 0:
		t.report(Asking, "question %d is dispatched, and none is open", e.Question)
	case e.Owner != t.owner || t.kind != workflow.Work:
		t.report(Owner, "%s is dispatched to %q; the instance is in %s, %s of %q", e.State, e.Owner, t.state, t.kind, t.owner)
	}
	if t.paused {
		t.report(Pause, "%s is dispatched while paused", e.State)
	}
	if n := t.discussion.openEscalation(); n > 0 {
		t.report(Asking, "%s is dispatched while escalation %d waits for people", e.State, n)
	}
	if t.direct && t.claimLive() {
		t.report(Direct, "%s is dispatched, and %s was given it directly until %s", e.State, t.newestClaim().Agent, stamp(t.newestClaim().To))
	}
	t.stay.parked, t.work, t.direct = false, t.seq, false
	if e.Question != 0 {
		t.work = 0
	}
}

// reported checks a result against the live claim and the open question.
func (t *instanceChecker) reported(e instance.Reported) {
	if t.checkToken("a report", e.Token) && (e.Agent != t.newestClaim().Agent || e.Role != t.newestClaim().Role) {
		t.report(Fence, "%s (%s) reports on the claim of %s (%s)", e.Agent, e.Role, t.newestClaim().Agent, t.newestClaim().Role)
	}
	if e.State != t.state {
		t.report(From, "a result for %s, and the instance is in %s", e.State, t.state)
	}
	if inquiry, _ := t.discussion.openInquiry(); e.Question != inquiry.number {
		t.report(Asking, "a result for question %d, and question %d is open", e.Question, inquiry.number)
	}
	t.checkSections(e.Role, e.Result.Sections)
	t.checkEvidence(e.State, e.Role, e.Agent, e.Question != 0, e.Result.Evidence)
	if e.Result.Base != "" && t.stated.head == "" {
		t.headed(e.Result.Base)
	}
	t.headed(e.Result.Head)
	t.endClaim()
}
