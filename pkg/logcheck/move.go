package logcheck

import (
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

func (t *trail) open(e instance.Opened, find Find) {
	table, known := find(e.Definition)
	if !known {
		t.say(Definition, "the definition %s of %s is not known: its moves cannot be judged", e.Definition, e.Workflow)
	} else if e.Workflow != table.Name || !table.Opens(e.State) {
		t.say(Opening, "it opens in %s/%s, want %s/%s", e.Workflow, e.State, table.Name, table.Initial)
	}
	t.workflow, t.definition, t.table = e.Workflow, e.Definition, table
	t.failures, t.links = nil, nil
	for _, id := range e.After {
		t.linked(id)
	}
	t.enter(e.State, e.Owner, e.Kind, e.Timeout)
}

func (t *trail) moved(e instance.Moved) {
	if e.From != t.state {
		t.say(From, "it moves from %s to %s, and is in %s", e.From, e.To, t.state)
	}
	if t.table != nil && !e.Override && !t.table.Permits(e.From, e.To) {
		t.say(Table, "the table of %s has no %s → %s", t.workflow, e.From, e.To)
	}
	switch {
	case !e.KeepsClaim:
		t.let()
	case !t.live():
		t.say(Fence, "it moves from %s to %s and keeps a claim that nobody holds", e.From, e.To)
	case t.claim().Role != e.Owner:
		t.say(Owner, "%s keeps its claim in %s of %q", t.claim().Agent, e.To, e.Owner)
	}
	t.count(e)
	t.talk.withdraw()
	t.enter(e.To, e.Owner, e.Kind, e.Timeout)
}

// count counts the failures in a row of the state that is left: a failure is one
// more, a success is none, and a person's move says nothing of the work. What a
// limit turns aside has failed.
func (t *trail) count(e instance.Moved) {
	if t.table != nil && !e.Failure {
		for _, limit := range t.table.Limits {
			if len(limit.To) > 0 && limit.Name == e.Rule {
				t.say(Failing, "the limit %s turns it aside, and it has not failed", e.Rule)
			}
		}
	}
	switch {
	case e.Override && e.Failure:
		t.say(Failing, "a move by hand is no failure of the work")
	case e.Failure:
		if t.failures == nil {
			t.failures = map[string]int{}
		}
		t.failures[e.From]++
	case !e.Override:
		delete(t.failures, e.From)
	}
	if e.ResetsFailures {
		delete(t.failures, e.To)
	}
}

// enter takes the row's owner, kind and timeout from the event and holds them
// against the table.
func (t *trail) enter(state, owner string, kind workflow.Kind, timeout time.Duration) {
	t.state, t.stay = state, stay{since: t.now}
	t.row(owner, kind, timeout)
}

func (t *trail) row(owner string, kind workflow.Kind, timeout time.Duration) {
	t.owner, t.kind, t.stay.timeout = owner, kind, timeout
	if kind == workflow.Final {
		t.end = "ended"
	}
	if t.table == nil {
		return
	}
	row, ok := t.table.State(t.state)
	switch {
	case !ok:
		t.say(Table, "%s has no state %s", t.workflow, t.state)
	case row.Owner != owner || row.Kind != kind:
		t.say(Table, "it enters %s as %s of %q, the table has %s of %q", t.state, kind, owner, row.Kind, row.Owner)
	case timeout == 0:
		t.stay.timeout = row.Timeout // an event of before there were deadlines does not say
	case row.Timeout != timeout:
		t.say(Table, "it enters %s for %v, the table has %v", t.state, timeout, row.Timeout)
	}
}

func (t *trail) migrated(e instance.Migrated, find Find) {
	if e.From != t.definition {
		t.say(From, "it leaves the definition %s, and is on %s", e.From, t.definition)
	}
	table, known := find(e.Definition)
	switch {
	case !known:
		t.say(Definition, "the definition %s that it migrates to is not known: its moves cannot be judged", e.Definition)
	case table.Name != t.workflow:
		t.say(Definition, "it migrates from %s to %s", t.workflow, table.Name)
	}
	if t.live() {
		t.say(Overlap, "it migrates, and %s holds token %d until %s", t.claim().Agent, t.claim().Token, stamp(t.claim().To))
	}
	t.let()
	t.definition, t.table, t.stay.parked = e.Definition, table, false
	t.row(e.Owner, e.Kind, e.Timeout)
}

func (t *trail) linked(id string) {
	if t.links == nil {
		t.links = map[string]bool{}
	}
	if _, ok := t.links[id]; !ok {
		t.links[id] = false
	}
}

// linkEnded holds the end of another instance against that instance's own log,
// as far as it was read.
func (t *trail) linkEnded(e instance.LinkEnded, k *Checker) {
	known, ok := t.links[e.Instance]
	other := k.trails[e.Instance]
	switch {
	case ok && !known && other != nil && other.lost:
	case ok && !known && (other == nil || other.end == "") && k.suspect(e.Instance, other.newest()):
	case !ok:
		t.say(Link, "%s is linked to nothing of it", e.Instance)
	case known:
		t.say(Link, "the end of %s was known", e.Instance)
	case other == nil || other.end == "":
		t.say(Link, "%s is said to have ended in %s, and has not", e.Instance, e.State)
	case other.state != e.State:
		t.say(Link, "%s is said to have ended in %s, and %s in %s", e.Instance, e.State, other.end, other.state)
	}
	t.linked(e.Instance)
	t.links[e.Instance] = true
}

// newest is the sequence of its newest commit; 0: none was read.
func (t *trail) newest() uint64 {
	if t == nil {
		return 0
	}
	return t.seq
}
