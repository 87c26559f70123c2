// Package instance is one work item under one definition: the commands it
// takes, the events it is made of, and the two functions between them. Decide
// is pure, Evolve is total; neither knows the name of any state. Time and ids
// come in with the command.
package instance

import (
	"slices"
	"time"

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
	Previous  []string // every state left, oldest first (previous_states)
	Visits    []Visit  // how often each state was entered, in order of first entry
	Iteration int      // moves made (iteration_count)
	Returns   int      // moves into a state entered before, since it last waited
	Loop      bool     // the definition's loop rule held at the last move

	Claim  *Claim // who works on it, lapsed or not; nil if nobody claimed since the last move
	Tokens uint64 // fencing tokens given out so far
	Work   uint64 // sequence of the commit that last gave the owner something to do

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
	Questions []Question
	Notes     []Note
	Spend     Spend
	Artifacts []Artifact

	Seq       uint64    // newest commit
	UpdatedAt time.Time // its time
	Recent    []Ref     // newest commands, for recognising a duplicate
}

// Visit counts entries into a state.
type Visit struct {
	State string
	Count int
	Total time.Duration // time spent in it, the current stay excluded
}

// Claim is the right to work, until Lease. Token fences: only the newest may report.
type Claim struct {
	Token uint64
	Role  string
	Agent string
	At    time.Time
	Lease time.Time
}

// Live reports whether the claim holds at t.
func (c *Claim) Live(t time.Time) bool { return c != nil && t.Before(c.Lease) }

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

// Ref points from a command to the commit it made.
type Ref struct {
	ID  string
	Seq uint64
}

// recentLimit bounds Recent: older duplicates are caught by the store's
// message ids (two minutes) or refused as stale.
const recentLimit = 32

// Exists reports whether the instance was ever opened.
func (in Instance) Exists() bool { return in.Workflow != "" }

// returnsIn is what Returns is once the instance is in the state to. Who waited
// was moved by people or by the world: that is news, and the budget of returns
// starts afresh.
func (in Instance) returnsIn(to string) int {
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

// Done returns the commit a recent command made.
func (in Instance) Done(command string) (uint64, bool) {
	i := slices.IndexFunc(in.Recent, func(r Ref) bool { return r.ID == command })
	if i < 0 {
		return 0, false
	}
	return in.Recent[i].Seq, true
}

// OpenQuestions returns the questions nobody has answered.
func (in Instance) OpenQuestions() []Question {
	var open []Question
	for _, q := range in.Questions {
		if !q.Answered {
			open = append(open, q)
		}
	}
	return open
}
