package logcheck

import (
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func (t *instanceChecker) open(e instance.Opened, find Find) {
	table, known := find(e.Definition)
	if !known {
		t.report(Definition, "the definition %s of %s is not known: its moves cannot be judged", e.Definition, e.Workflow)
	} else if e.Workflow != table.Name || !table.Opens(e.State) {
		t.report(Opening, "it opens in %s/%s, want %s/%s", e.Workflow, e.State, table.Name, table.Initial)
	}
	t.workflow, t.definition, t.table = e.Workflow, e.Definition, table
	t.failures, t.links = nil, nil
	t.stated = statements{head: e.Base, vars: e.Vars}
	for _, id := range e.After {
		t.addLink(id)
	}
	t.enter(e.State, e.Owner, e.Kind, e.Timeout)
}

func (t *instanceChecker) moved(e instance.Moved) {
	if e.From != t.state {
		t.report(From, "it moves from %s to %s, and is in %s", e.From, e.To, t.state)
	}
	if t.table != nil && !e.Override && !t.table.Permits(e.From, e.To) {
		t.report(Table, "the table of %s has no %s → %s", t.workflow, e.From, e.To)
	}
	t.checkGates(e)
	switch {
	case !e.KeepsClaim:
		t.endClaim()
	case !t.claimLive():
		t.report(Fence, "it moves from %s to %s and keeps a claim that nobody holds", e.From, e.To)
	case t.newestClaim().Role != e.Owner:
		t.report(Owner, "%s keeps its claim in %s of %q", t.newestClaim().Agent, e.To, e.Owner)
	}
	t.countFailures(e)
	t.discussion.withdraw()
	t.enter(e.To, e.Owner, e.Kind, e.Timeout)
	if e.Resumes {
		if e.Kind != workflow.Wait {
			t.report(Deadline, "it resumes %s, which is no wait", e.To)
		}
		t.resume(e.To)
	}
}

// countFailures counts the failures in a row of the state that is left: a failure
// adds one, a success resets it, an override changes nothing. A move by a limit
// must be a failure.
func (t *instanceChecker) countFailures(e instance.Moved) {
	if t.table != nil && !e.Failure {
		for _, limit := range t.table.Limits {
			if len(limit.To) > 0 && limit.Name == e.Rule {
				t.report(Failing, "the limit %s turns it aside, and it has not failed", e.Rule)
			}
		}
	}
	switch {
	case e.Override && e.Failure:
		t.report(Failing, "a move by hand is no failure of the work")
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

// enter starts a stay with the owner, kind and timeout of the event, and checks
// them against the table.
func (t *instanceChecker) enter(state, owner string, kind workflow.Kind, timeout time.Duration) {
	if t.kind == workflow.Wait {
		t.leftWait = t.stay
		t.leftWait.state = t.state
	}
	t.state, t.stay = state, stay{since: t.now}
	t.setRow(owner, kind, timeout)
}

func (t *instanceChecker) setRow(owner string, kind workflow.Kind, timeout time.Duration) {
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
		t.report(Table, "%s has no state %s", t.workflow, t.state)
	case row.Owner != owner || row.Kind != kind:
		t.report(Table, "it enters %s as %s of %q, the table has %s of %q", t.state, kind, owner, row.Kind, row.Owner)
	case timeout == 0:
		t.stay.timeout = row.Timeout // events from before deadlines have no timeout
	case row.Timeout != timeout:
		t.report(Table, "it enters %s for %v, the table has %v", t.state, timeout, row.Timeout)
	}
}

func (t *instanceChecker) migrated(e instance.Migrated, find Find) {
	if e.From != t.definition {
		t.report(From, "it leaves the definition %s, and is on %s", e.From, t.definition)
	}
	table, known := find(e.Definition)
	switch {
	case !known:
		t.report(Definition, "the definition %s that it migrates to is not known: its moves cannot be judged", e.Definition)
	case table.Name != t.workflow:
		t.report(Definition, "it migrates from %s to %s", t.workflow, table.Name)
	}
	if t.claimLive() {
		t.report(Overlap, "it migrates, and %s holds token %d until %s", t.newestClaim().Agent, t.newestClaim().Token, stamp(t.newestClaim().To))
	}
	t.endClaim()
	t.definition, t.table, t.stay.parked = e.Definition, table, false
	t.setRow(e.Owner, e.Kind, e.Timeout)
}

func (t *instanceChecker) addLink(id string) {
	if t.links == nil {
		t.links = map[string]bool{}
	}
	if _, ok := t.links[id]; !ok {
		t.links[id] = false
	}
}

// linkEnded checks the end of another instance against that instance's own log, as
// far as it was read.
func (t *instanceChecker) linkEnded(e instance.LinkEnded, k *Checker) {
	known, ok := t.links[e.Instance]
	other := k.instances[e.Instance]
	switch {
	case ok && !known && other != nil && (other.unjudged || slices.Contains(other.endedBefore, e.State)):
	case ok && !known && (other == nil || other.end == "") && k.attribute(e.Instance, other.newestSeq()):
	case !ok:
		t.report(Link, "%s is linked to nothing of it", e.Instance)
	case known:
		t.report(Link, "the end of %s was known", e.Instance)
	case other == nil || other.end == "":
		t.report(Link, "the log records the end of %s in %s, and it has not ended", e.Instance, e.State)
	case other.state != e.State:
		t.report(Link, "the log records the end of %s in %s, and it %s in %s", e.Instance, e.State, other.end, other.state)
	}
	t.addLink(e.Instance)
	t.links[e.Instance] = true
}

// newestSeq returns the sequence of the newest commit; 0: none was read.
func (t *instanceChecker) newestSeq() uint64 {
	if t == nil {
		return 0
	}
	return t.seq
}
