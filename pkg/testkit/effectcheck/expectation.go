package effectcheck

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// expectation is the effects of one instance that the log permits or demands.
type expectation struct {
	id   string
	find FindDefinition

	definition, state, branch string
	kind                      workflow.Kind
	closed                    bool
	issue                     instance.Issue
	vars, last                map[string]string // last: data of the newest result
	visits                    map[string]int
	role                      string // that holds the claim; "" for none
	question                  int    // that is claimed; 0 for the work of the state
	asked                     map[int]instance.Asked
	escalations               map[int]bool // by number, whether people have resolved it
	head                      string
	heads                     map[string]int // commits of the work, by when they came

	may, must map[string]uint64 // comments by key: the commit that has it
	urls      map[string]string // recorded, by key
	mayBranch uint64
	mayPull   uint64
	pull      int    // recorded
	pushed    string // the newest commit that was recorded to be on the branch
	delivered []string
	ready     map[string]bool // heads that were found ready to be merged
	merged    string          // the commit that was recorded as the merge
}

func newExpectation(id string, find FindDefinition) *expectation {
	return &expectation{
		id: id, find: find, vars: map[string]string{}, visits: map[string]int{}, asked: map[int]instance.Asked{}, escalations: map[int]bool{},
		heads: map[string]int{}, may: map[string]uint64{}, must: map[string]uint64{}, urls: map[string]string{}, ready: map[string]bool{},
	}
}

func (t *expectation) addCommitEvents(c instance.Commit) {
	for _, e := range c.Events {
		t.addEvent(c, e)
		if t.role != "" && t.question == 0 {
			t.addIntents(c.Seq)
		}
	}
}

func (t *expectation) addEvent(c instance.Commit, e instance.Event) {
	switch e := e.(type) {
	case instance.Opened:
		t.definition, t.issue = e.Definition, e.Issue
		t.may["status"] = c.Seq
		maps.Copy(t.vars, e.Vars)
		t.addCommit(e.Base)
		t.enterState(c.Seq, e.State, e.Kind)
	case instance.Claimed:
		t.role = e.Role
	case instance.Released, instance.Paused:
		t.role = ""
	case instance.CancelledBy:
		t.role, t.closed = "", true
	case instance.Migrated:
		t.role, t.definition, t.kind = "", e.Definition, e.Kind
	case instance.Dispatched:
		t.question = e.Question
	case instance.Remembered:
		maps.Copy(t.vars, e.Vars)
		if m := e.Vars["merging"]; m != "" {
			t.ready[m] = true
		}
	case instance.Handed:
		t.addCommit(e.Head)
	case instance.Asked:
		t.asked[e.Number] = e
	case instance.Reported:
		t.role = ""
		t.addReport(c.Seq, e)
	case instance.TimedOut:
		t.may[fmt.Sprintf("deadline-%s-%d-%s", e.State, t.visits[e.State], e.Level)] = c.Seq
	case instance.Escalated:
		if e.RequiresHuman {
			t.role, t.escalations[e.Number] = "", false
			t.may[fmt.Sprintf("escalation-%d", e.Number)] = c.Seq
		}
	case instance.Resolved:
		if _, known := t.escalations[e.Number]; known {
			t.escalations[e.Number] = true
		}
	case instance.Moved:
		if !e.KeepsClaim {
			t.role = ""
		}
		t.question = 0
		t.enterState(c.Seq, e.To, e.Kind)
	}
}

// addCommit notes a commit of the work.
func (t *expectation) addCommit(commit string) {
	if commit != "" {
		t.head, t.heads[commit] = commit, len(t.heads)+1
	}
}

func (t *expectation) enterState(seq uint64, state string, kind workflow.Kind) {
	t.state, t.kind = state, kind
	t.visits[state]++
	switch kind {
	case workflow.Final:
		t.closed = true
		t.may["ended"] = seq
	case workflow.Wait:
		t.may[t.keyOfVisit("waits-"+state+"-")] = seq
	}
}

// keyOfVisit returns the key with the number of visits to the state.
func (t *expectation) keyOfVisit(key string) string { return key + strconv.Itoa(t.visits[t.state]) }

// expectAtEnd notes the comments that the state at the end of the log demands.
func (t *expectation) expectAtEnd() {
	if t.kind == workflow.Final {
		if pr := t.vars["prNumber"]; t.last["pr_url"] == "" && (pr == "" || pr == "0") {
			t.must["ended"] = t.may["ended"]
		}
		return
	}
	for n, resolved := range t.escalations {
		if !resolved && !t.closed {
			key := fmt.Sprintf("escalation-%d", n)
			t.must[key] = t.may[key]
		}
	}
	if d, ok := t.find(t.definition); ok && t.kind == workflow.Wait && !t.closed {
		if s, ok := d.State(t.state); ok && s.Tell {
			key := t.keyOfVisit("waits-" + t.state + "-")
			t.must[key] = t.may[key]
		}
	}
}

// discussion returns the number of the instance's issue, or else of its pull request, 0
// if it has neither.
func (t *expectation) discussion() int {
	if t.issue.Number != 0 {
		return t.issue.Number
	}
	n, _ := strconv.Atoi(t.vars["prNumber"])
	return n
}
