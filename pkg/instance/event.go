package instance

import (
	"time"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// Event is one fact. The events of one decision share a Commit, and with it time,
// actor and sequence.
type Event interface{ event() }

// Commit is one decision: its events in order, stored as one message of the log.
type Commit struct {
	Seq    uint64
	ID     string // the command's
	At     time.Time
	Actor  string
	Events []Event
}

// Opened is the first event of an instance.
type Opened struct {
	Workflow   string
	Definition string // content hash
	Issue      Issue
	Base       string
	Bundle     string
	State      string
	Owner      string
	Kind       workflow.Kind
	Timeout    time.Duration // of State
	Vars       map[string]string
	After      []string
	Parent     string
	Bundles    []Bundle // beside Bundle
}

// Claimed gives one agent the work until Lease. Lapsed is the agent whose lease ran
// out before, if any.
type Claimed struct {
	Token  uint64
	Role   string
	Agent  string
	Lease  time.Time
	Lapsed string
	// Direct says that the commit that dispatched the work claimed it for a waiting
	// agent: no queue delivers it.
	Direct bool
}

// LeaseExtended is a heartbeat.
type LeaseExtended struct {
	Token uint64
	Lease time.Time
}

// Released ends a claim without a result. Fault marks an infrastructure fault, which
// is counted in Instance.Faults and never as a failure of the work.
type Released struct {
	Token  uint64
	Agent  string
	Reason string
	Fault  bool
}

// Reported is the result of a claimed step or, if Question is not 0, the answer to
// that question.
type Reported struct {
	Token    uint64
	Role     string
	Agent    string
	State    string
	Result   Result
	Question int
}

// ProposalRefused says that the table does not permit the next state that a result proposed.
type ProposalRefused struct {
	From      string
	Proposed  string
	Permitted []string
}

// StatementRefused says that a role, or a signal, gave something that the definition
// does not let it give. It was set aside: no guard sees it.
type StatementRefused struct {
	What      string   // RefusedEvidence, RefusedVar, RefusedAnswer, RefusedAuthor or RefusedChange
	Name      string   // of the check or variable, the number of the question, the commit
	Role      string   // workflow.Human for a signal
	Agent     string   // the actor of a signal
	Said      string   // what it said, cut
	Permitted []string // who may give it, and where
}

// GateRefused says that a quality gate changed the target of a move.
type GateRefused struct {
	Gate    string
	Wanted  string
	Instead string
	Reason  string
}

// LoopDetected is a warning: the definition's loop rule holds.
type LoopDetected struct {
	States []string // the recent states
	Reason string
}

// Moved is the only event that changes the state.
type Moved struct {
	From     string
	To       string
	Owner    string
	Kind     workflow.Kind
	Rule     string // what chose To: proposed, decide, a limit's or gate's name, signal, override
	Reason   string
	Failure  bool // recorded as a failure of the work
	Loop     bool // the loop rule holds after this move
	Override bool // made by a person outside the table

	Timeout        time.Duration // of To
	KeepsClaim     bool          // the claim goes on
	ResetsFailures bool          // the failure counts of all states start at zero
	Cites          []string      // names of the evidence that the decision is based on
}

// Dispatched makes work available to a role. The queue of that role delivers the
// commit.
type Dispatched struct {
	State  string
	Owner  string
	Reason string // why again, when a person asked for it
	// Question is the number of the question that the role Owner is to answer; 0 for
	// the work of the state.
	Question int
}

// Signalled is a signal from outside. Ref identifies it at its sender.
type Signalled struct {
	Name  string
	Actor string
	Ref   string
	Data  map[string]string

	Evidence []Evidence
}

// Asked is a question to the role To or, if To is empty, to people.
type Asked struct {
	Number int
	From   string
	Text   string
	To     string
}

// Handed is the progress of a step that is not over.
type Handed struct {
	Head     string
	Bundle   string
	Sections map[string]string // the sections of the document that were written
}

// Escalated puts a matter to people.
type Escalated struct {
	Number        int
	Agent         string // the role
	Reason        string
	RequiresHuman bool
}

// Resolved is people's decision on an escalation. It resets all failure counts.
type Resolved struct {
	Number int
	Text   string
	By     string
}

// Remembered sets vars.
type Remembered struct{ Vars map[string]string }

// ParkedUntil says that the owner has nothing to do until a time or the next event.
type ParkedUntil struct {
	State  string
	Until  time.Time // zero: until the next event
	Reason string
	// Standing says that the park ends when the always rule that made it no longer holds.
	Standing bool
}

// Woken says that something happened under a live claim: the owner must look again.
type Woken struct{ Reason string }

// TimedOut says that a stay reached a deadline.
type TimedOut struct {
	State string
	Level workflow.Level
	After time.Duration // since the state was entered
}

// Spawned opens a child. The event is recorded first; the child is opened after it.
type Spawned struct {
	Instance string
	Workflow string
	State    string
	Reason   string
}

// LinkEnded says how a linked instance ended.
type LinkEnded struct {
	Instance string
	State    string
	Well     bool
}

// Migrated replaces the definition.
type Migrated struct {
	From       string // content hashes
	Definition string
	Owner      string // of the state, which stays
	Kind       workflow.Kind
	Timeout    time.Duration
	Reason     string
}

// Answered answers a question.
type Answered struct {
	Number int
	Text   string
	By     string
}

// Noted records a remark.
type Noted struct {
	Author string
	Kind   string
	Text   string
}

// Spent records a cost outside a result.
type Spent struct{ Spend Cost }

// Paused stops dispatch until Resumed.
type Paused struct{ Reason string }

// Resumed ends a pause.
type Resumed struct{ Reason string }

// CancelledBy closes the instance in its state.
type CancelledBy struct{ Reason string }

func (Opened) event()           {}
func (Claimed) event()          {}
func (LeaseExtended) event()    {}
func (Released) event()         {}
func (Reported) event()         {}
func (ProposalRefused) event()  {}
func (GateRefused) event()      {}
func (StatementRefused) event() {}
func (LoopDetected) event()     {}
func (Moved) event()            {}
func (Dispatched) event()       {}
func (Signalled) event()        {}
func (Asked) event()            {}
func (Answered) event()         {}
func (Handed) event()           {}
func (Escalated) event()        {}
func (Resolved) event()         {}
func (Remembered) event()       {}
func (ParkedUntil) event()      {}
func (Woken) event()            {}
func (TimedOut) event()         {}
func (Spawned) event()          {}
func (LinkEnded) event()        {}
func (Migrated) event()         {}
func (Noted) event()            {}
func (Spent) event()            {}
func (Paused) event()           {}
func (Resumed) event()          {}
func (CancelledBy) event()      {}
