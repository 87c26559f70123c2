package logcheck

import (
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// trail is what is known of one instance: no more than the rules need.
type trail struct {
	id         string
	lean       bool // only the newest of claims is kept
	commits    int
	workflow   string
	definition string
	table      *workflow.Definition // nil: not known
	state      string
	owner      string
	kind       workflow.Kind
	paused     bool
	end        string // how it ended
	over       bool   // it had when the newest commit came
	claims     []*Interval
	held       bool // the last of claims was not given up, though its lease may have ended
	token      uint64
	work       uint64 // the commit that dispatched to the owner of the state last; 0: somebody else was asked
	direct     bool   // the newest claim came with it
	lost       bool   // no telling where it is
	stay       stay
	talk       talk
	failures   map[string]int
	links      map[string]bool // by instance: whether its end is known

	seq uint64 // of the newest commit
	now time.Time
	say func(rule Rule, format string, args ...any)
}

// lose names a fault after which nothing of the instance can be judged.
func (t *trail) lose(rule Rule, format string, args ...any) {
	t.lost = true
	t.say(rule, format, args...)
}

func (t *trail) event(e instance.Event, k *Checker) {
	if t.admit(e); t.lost {
		return
	}
	switch e := e.(type) {
	case instance.Opened:
		t.open(e, k.find)
	case instance.Claimed:
		t.claimed(e)
	case instance.LeaseExtended:
		if t.holds("a heartbeat", e.Token) {
			t.claim().To = e.Lease
		}
	case instance.Released:
		t.holds("a release", e.Token)
		t.let()
	case instance.Reported:
		t.reported(e)
	case instance.Moved:
		t.moved(e)
	case instance.Dispatched:
		t.dispatched(e)
	case instance.Paused:
		t.let()
		t.paused = true
	case instance.Resumed:
		t.paused = false
	case instance.CancelledBy:
		t.let()
		t.end = "was cancelled"
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
		t.linked(e.Instance)
	case instance.LinkEnded:
		t.linkEnded(e, k)
	}
}

// admit judges whether the instance can have such an event at all.
func (t *trail) admit(e instance.Event) {
	_, opens := e.(instance.Opened)
	switch {
	case !opens && t.state == "":
		t.lose(Opening, "%s comes first: want it opened first", name(e))
	case opens && t.state != "":
		t.say(Opening, "it is opened again, in %s", t.state)
	case t.end != "" && !remark(e) && !t.follows(e):
		t.say(End, "%s comes after it %s in %s", name(e), t.end, t.state)
	}
}

// name names the kind of an event.
func name(e instance.Event) string { return strings.TrimPrefix(fmt.Sprintf("%T", e), "instance.") }

// remark tells the events that only add to the record.
func remark(e instance.Event) bool {
	switch e.(type) {
	case instance.Signalled, instance.Noted, instance.LinkEnded:
		return true
	}
	return false
}

// follows tells what an end brings with it: the instances that go on with it.
func (t *trail) follows(e instance.Event) bool {
	_, spawns := e.(instance.Spawned)
	return spawns && !t.over
}

// dispatched: work goes to who is asked or, if nobody is, to the owner.
func (t *trail) dispatched(e instance.Dispatched) {
	asked, waits := t.talk.asked()
	switch {
	case e.State != t.state:
		t.say(Owner, "%s is dispatched to %q; the instance is in %s, %s of %q", e.State, e.Owner, t.state, t.kind, t.owner)
	case waits && (e.Question != asked.number || e.Owner != asked.to):
		t.say(Asking, "question %d is dispatched to %q, and question %d to %q is open", e.Question, e.Owner, asked.number, asked.to)
	case waits:
	case e.Question != 0:
		t.say(Asking, "question %d is dispatched, and none is open", e.Question)
	case e.Owner != t.owner || t.kind != workflow.Work:
		t.say(Owner, "%s is dispatched to %q; the instance is in %s, %s of %q", e.State, e.Owner, t.state, t.kind, t.owner)
	}
	if t.paused {
		t.say(Pause, "%s is dispatched while paused", e.State)
	}
	if n := t.talk.waits(); n > 0 {
		t.say(Asking, "%s is dispatched while escalation %d waits for people", e.State, n)
	}
	if t.direct && t.live() {
		t.say(Direct, "%s is dispatched, and %s was given it directly until %s", e.State, t.claim().Agent, stamp(t.claim().To))
	}
	t.stay.parked, t.work, t.direct = false, t.seq, false
	if e.Question != 0 {
		t.work = 0
	}
}

func (t *trail) reported(e instance.Reported) {
	if t.holds("a report", e.Token) && (e.Agent != t.claim().Agent || e.Role != t.claim().Role) {
		t.say(Fence, "%s (%s) reports on the claim of %s (%s)", e.Agent, e.Role, t.claim().Agent, t.claim().Role)
	}
	if e.State != t.state {
		t.say(From, "a result for %s, and the instance is in %s", e.State, t.state)
	}
	if asked, _ := t.talk.asked(); e.Question != asked.number {
		t.say(Asking, "a result for question %d, and question %d is open", e.Question, asked.number)
	}
	t.wrote(e.Role, e.Result.Sections)
	t.let()
}
