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
	id       string
	workflow string
	table    *workflow.Definition // nil: not known
	state    string
	owner    string
	kind     workflow.Kind
	paused   bool
	end      string // how it ended
	claims   []*Interval
	held     bool // the last of claims was not given up, though its lease may have ended
	token    uint64
	lost     bool // no telling where it is

	seq uint64 // of the commit at hand
	now time.Time
	say func(rule Rule, format string, args ...any)
}

// lose names a fault after which nothing of the instance can be judged.
func (t *trail) lose(rule Rule, format string, args ...any) {
	t.lost = true
	t.say(rule, format, args...)
}

func (t *trail) event(e instance.Event, find Find) {
	if t.admit(e); t.lost {
		return
	}
	switch e := e.(type) {
	case instance.Opened:
		t.open(e, find)
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
	case t.end != "" && !remark(e):
		t.say(End, "%s comes after it %s in %s", name(e), t.end, t.state)
	}
}

// name names the kind of an event.
func name(e instance.Event) string { return strings.TrimPrefix(fmt.Sprintf("%T", e), "instance.") }

// remark tells the events that only add to the record.
func remark(e instance.Event) bool {
	switch e.(type) {
	case instance.Signalled, instance.Noted:
		return true
	}
	return false
}

func (t *trail) open(e instance.Opened, find Find) {
	table, known := find(e.Definition)
	if !known {
		t.say(Definition, "the definition %s of %s is not known: its moves cannot be judged", e.Definition, e.Workflow)
	} else if e.Workflow != table.Name || e.State != table.Initial {
		t.say(Opening, "it opens in %s/%s, want %s/%s", e.Workflow, e.State, table.Name, table.Initial)
	}
	t.workflow, t.table = e.Workflow, table
	t.enter(e.State, e.Owner, e.Kind)
}

func (t *trail) moved(e instance.Moved) {
	if e.From != t.state {
		t.say(From, "it moves from %s to %s, and is in %s", e.From, e.To, t.state)
	}
	if t.table != nil && !e.Override && !t.table.Permits(e.From, e.To) {
		t.say(Table, "the table of %s has no %s → %s", t.workflow, e.From, e.To)
	}
	t.let()
	t.enter(e.To, e.Owner, e.Kind)
}

// enter takes the row's owner and kind from the event and holds them against
// the table.
func (t *trail) enter(state, owner string, kind workflow.Kind) {
	t.state, t.owner, t.kind = state, owner, kind
	if kind == workflow.Final {
		t.end = "ended"
	}
	if t.table == nil {
		return
	}
	row, ok := t.table.State(state)
	switch {
	case !ok:
		t.say(Table, "%s has no state %s", t.workflow, state)
	case row.Owner != owner || row.Kind != kind:
		t.say(Table, "it enters %s as %s of %q, the table has %s of %q", state, kind, owner, row.Kind, row.Owner)
	}
}

func (t *trail) dispatched(e instance.Dispatched) {
	if e.State != t.state || e.Owner != t.owner || t.kind != workflow.Work {
		t.say(Owner, "%s is dispatched to %q; the instance is in %s, %s of %q", e.State, e.Owner, t.state, t.kind, t.owner)
	}
	if t.paused {
		t.say(Pause, "%s is dispatched while paused", e.State)
	}
}

func (t *trail) reported(e instance.Reported) {
	if t.holds("a report", e.Token) && (e.Agent != t.claim().Agent || e.Role != t.claim().Role) {
		t.say(Fence, "%s (%s) reports on the claim of %s (%s)", e.Agent, e.Role, t.claim().Agent, t.claim().Role)
	}
	if e.State != t.state {
		t.say(From, "a result for %s, and the instance is in %s", e.State, t.state)
	}
	t.let()
}
