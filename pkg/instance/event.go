package instance

import (
	"time"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// Event is one fact. Events of one decision share a Commit, and with it their
// time, actor and sequence.
type Event interface{ event() }

// Commit is one decision: its events, in order.
type Commit struct {
	Seq    uint64
	ID     string // the command's
	At     time.Time
	Actor  string
	Events []Event
}

// Opened is an instance's first event.
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

// Claimed gives one agent the work. Lapsed names the agent whose lease ran out before.
type Claimed struct {
	Token  uint64
	Role   string
	Agent  string
	Lease  time.Time
	Lapsed string
	// Direct says that the agent waited for work and was given it by the commit
	// that made it: no message of a work queue has it.
	Direct bool
}

// LeaseExtended is a heartbeat.
type LeaseExtended struct {
	Token uint64
	Lease time.Time
}

// Released ends a claim without a result. Fault marks an infrastructure fault:
// it is counted on a ledger of its own and never against the work.
type Released struct {
	Token  uint64
	Agent  string
	Reason string
	Fault  bool
}

// Reported is the result of the claimed step or, if Question is not 0, of
// answering that question.
type Reported struct {
	Token    uint64
	Role     string
	Agent    string
	State    string
	Result   Result
	Question int
}

// ProposalRefused says that a result named a next state the table does not have.
type ProposalRefused struct {
	From      string
	Proposed  string
	Permitted []string
}

// GateRefused says that a quality gate turned a move aside.
type GateRefused struct {
	Gate    string
	Wanted  string
	Instead string
	Reason  string
}

// LoopDetected warns: the definition's loop rule holds.
type LoopDetected struct {
	States []string // the recent past it was seen in
	Reason string
}

// Moved is the only event that changes the state.
type Moved struct {
	From     string
	To       string
	Owner    string
	Kind     workflow.Kind
	Rule     string // what picked To: proposed, decide, a limit's or gate's name, signal, override
	Reason   string
	Failure  bool // recorded as a failure of the work
	Loop     bool // the loop rule holds after this move
	Override bool // made by a person outside the table

	Timeout        time.Duration // of To
	KeepsClaim     bool          // the claim stays with who holds it
	ResetsFailures bool          // all failures are counted anew
	Cites          []string      // the evidence the decision was made on, by name
}

// Dispatched says that the owner of the state has something to do. A commit
// with it is delivered to the owner.
type Dispatched struct {
	State  string
	Owner  string
	Reason string // why again, when a person asked for it
	// Question is the number of the question that Owner, not the state's, is
	// asked; 0 for the work of the state.
	Question int
}

// Signalled is a named event from outside. Ref identifies it there.
type Signalled struct {
	Name  string
	Actor string
	Ref   string
	Data  map[string]string

	Evidence []Evidence
}

// Asked puts a question to the role To or, if that is empty, to people.
type Asked struct {
	Number int
	From   string
	Text   string
	To     string
}

// Handed says what the work is at although its step is not over.
type Handed struct {
	Head     string
	Bundle   string
	Sections map[string]string // of the document: those that were written
}

// Escalated puts the matter to people.
type Escalated struct {
	Number        int
	Agent         string // the role
	Reason        string
	RequiresHuman bool
}

// Resolved is people's word on an escalation. All failures are counted anew.
type Resolved struct {
	Number int
	Text   string
	By     string
}

// Remembered sets vars.
type Remembered struct{ Vars map[string]string }

// ParkedUntil says that the owner has nothing to do for now.
type ParkedUntil struct {
	State  string
	Until  time.Time // zero: before something happens
	Reason string
	// Standing says that it lasts no longer than the always rule that says so holds.
	Standing bool
}

// Woken says that something happened while the owner was at work.
type Woken struct{ Reason string }

// TimedOut says that a stay reached a deadline.
type TimedOut struct {
	State string
	Level workflow.Level
	After time.Duration // since the state was entered
}

// Spawned opens another instance: the event comes first, the instance follows.
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

// Migrated goes on under another definition.
type Migrated struct {
	From       string // content hashes
	Definition string
	Owner      string // of the state, which stays
	Kind       workflow.Kind
	Timeout    time.Duration
	Reason     string
}

// Answered answers one.
type Answered struct {
	Number int
	Text   string
	By     string
}

// Noted keeps a remark.
type Noted struct {
	Author string
	Kind   string
	Text   string
}

// Spent books a cost outside a result.
type Spent struct{ Spend Cost }

// Paused stops dispatch until Resumed.
type Paused struct{ Reason string }

// Resumed undoes Paused.
type Resumed struct{ Reason string }

// CancelledBy closes the instance where it stands.
type CancelledBy struct{ Reason string }

func (Opened) event()          {}
func (Claimed) event()         {}
func (LeaseExtended) event()   {}
func (Released) event()        {}
func (Reported) event()        {}
func (ProposalRefused) event() {}
func (GateRefused) event()     {}
func (LoopDetected) event()    {}
func (Moved) event()           {}
func (Dispatched) event()      {}
func (Signalled) event()       {}
func (Asked) event()           {}
func (Answered) event()        {}
func (Handed) event()          {}
func (Escalated) event()       {}
func (Resolved) event()        {}
func (Remembered) event()      {}
func (ParkedUntil) event()     {}
func (Woken) event()           {}
func (TimedOut) event()        {}
func (Spawned) event()         {}
func (LinkEnded) event()       {}
func (Migrated) event()        {}
func (Noted) event()           {}
func (Spent) event()           {}
func (Paused) event()          {}
func (Resumed) event()         {}
func (CancelledBy) event()     {}
