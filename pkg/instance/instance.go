// Package instance is one work item under one definition: the commands it
// takes, the events it is made of, and the two functions between them. Decide
// is pure, Evolve is total; neither knows the name of any state. Time and ids
// come in with the command.
package instance

import (
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/series"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// Instance is the fold of its commits. It is a value: Evolve returns a new one
// and never writes to what an older one refers to.
type Instance struct {
	ID         string
	Workflow   string
	Definition string // content hash of the definition it was opened with
	Issue      Issue
	OpenedAt   time.Time

	State     string
	Kind      workflow.Kind
	Owner     string // role that works in State; empty if nobody does
	EnteredAt time.Time
	Entered   uint64         // sequence of the commit that entered State
	Timeout   time.Duration  // how long a stay in State is expected to last; 0: any time
	Level     workflow.Level // of the newest deadline of this stay that passed; empty: none
	Previous  Past           // every state left, oldest first (previous_states)
	Visits    []Visit        // how often each state was entered, in order of first entry
	Iteration int            // moves made (iteration_count)
	Returns   int            // moves into a state entered before, since it last waited
	Loop      bool           // the definition's loop rule held at the last move

	Claim  *ActiveClaim // who works on it, lapsed or not; nil if nobody claimed since the last move
	Tokens uint64       // fencing tokens given out so far
	Work   uint64       // sequence of the commit that last gave the owner something to do
	Direct bool         // it gave it to an agent that waited: no work queue has it

	Paused bool
	Closed Closed // why nothing can happen any more; empty while something can
	Reason string // of the newest move, pause, resume or cancel; while paused, of the pause

	Base      string // commit the work started from
	Head      string // commit the work is at
	Bundles   []Bundle
	Evidence  []Evidence // the newest of each name
	Last      *Result    // of the step before
	LastState string     // where Last was reported
	Failure   Signature
	Faults    int // infrastructure faults in this state since it was entered
	Failures  []FailureCount
	Failed    bool // the newest move was a failure of the work
	Questions []Question
	Notes     []NoteEntry
	Spend     Cost
	Artifacts []Artifact

	Vars        map[string]string // what it remembers, as text; the definition has the types
	Sections    map[string]string // its document: JSON by section name, as its owners wrote it
	Escalations []Escalation
	Parked      *Parked // the owner has nothing to do for now; nil otherwise
	Woken       bool    // something happened while the owner was at work: it must look again
	Parent      string  // the instance that opened this one
	Links       []Link  // instances this one opened, or comes after

	Seq       uint64    // newest commit
	UpdatedAt time.Time // its time
}

// Past is a list of states that grows with every move.
type Past = series.Of[string]

// Visit counts entries into a state.
type Visit struct {
	State string
	Count int
	Total time.Duration // time spent in it, the current stay excluded
}

// ActiveClaim is the right to work, until Lease. Token fences: only the newest may report.
type ActiveClaim struct {
	Token uint64
	Role  string
	Agent string
	At    time.Time
	Lease time.Time
}

// Live reports whether the claim holds at t.
func (c *ActiveClaim) Live(t time.Time) bool { return c != nil && t.Before(c.Lease) }

// Closed says how an instance ended.
type Closed string

const (
	Ended     Closed = "ended"     // in a final state
	Cancelled Closed = "cancelled" // by a person, wherever it was
)

// Bundle is an object that carries commits of the work.
type Bundle struct {
	Object string
	Head   string
}

// Signature tells one failure from another.
type Signature struct {
	Value   string
	Repeats int // how often in succession the same one came back
}

// Exists reports whether the instance was ever opened.
func (in Instance) Exists() bool { return in.Workflow != "" }

// returnsIn is what Returns is once the instance is in the state to. Who waited
// was moved by people or by the world: that is news, and the budget of returns
// starts afresh.
func (in Instance) returnsAfter(to string) int {
	switch {
	case in.Kind == workflow.Wait:
		return 0
	case in.Visited(to) > 0:
		return in.Returns + 1
	}
	return in.Returns
}

// Visited returns how often the state was entered.
func (in Instance) Visited(state string) int {
	for _, v := range in.Visits {
		if v.State == state {
			return v.Count
		}
	}
	return 0
}

// FailuresIn returns the failures in a row of a state.
func (in Instance) FailuresIn(state string) int {
	for _, f := range in.Failures {
		if f.State == state {
			return f.Count
		}
	}
	return 0
}

// OpenQuestions returns the questions to people that nobody has answered.
func (in Instance) OpenQuestions() []Question {
	var open []Question
	for _, q := range in.Questions {
		if !q.Answered && q.To == "" {
			open = append(open, q)
		}
	}
	return open
}

// Inquiry returns the question to a role that is to be answered next: the
// newest, for who was asked may have to ask in turn. ok is false if none is open.
func (in Instance) Inquiry() (q Question, ok bool) {
	for _, q := range slices.Backward(in.Questions) {
		if q.To != "" && !q.Answered && !q.Withdrawn {
			return q, true
		}
	}
	return Question{}, false
}

// Escalation returns the oldest escalation that waits for people.
func (in Instance) Escalation() (e Escalation, ok bool) {
	i := slices.IndexFunc(in.Escalations, func(e Escalation) bool { return e.RequiresHuman && !e.Resolved })
	if i < 0 {
		return Escalation{}, false
	}
	return in.Escalations[i], true
}

// Worker returns the role whose turn it is: the owner of the state or, while a
// question to another is open, that one. Nobody while people are waited for.
func (in Instance) Worker() string {
	if _, held := in.Escalation(); held || in.Kind == workflow.Final {
		return ""
	}
	if q, ok := in.Inquiry(); ok {
		return q.To
	}
	return in.Owner
}

// WaitsForPeople reports whether only people move it on: an escalation holds it,
// or nobody works in its state, no role is asked something, and no instance that
// it comes after may yet end well.
func (in Instance) WaitsForPeople() bool {
	if _, held := in.Escalation(); held {
		return in.Closed == ""
	}
	for _, l := range in.Links {
		if l.Kind == After && !l.Ended {
			return false
		}
	}
	return in.Closed == "" && in.Kind == workflow.Wait && in.Worker() == ""
}

// WaitingOn returns how many instances this one comes after have not ended well.
func (in Instance) WaitingOn() int {
	n := 0
	for _, l := range in.Links {
		if l.Kind == After && !(l.Ended && l.Well) {
			n++
		}
	}
	return n
}
