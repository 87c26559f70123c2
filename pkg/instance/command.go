package instance

import (
	"time"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// Command asks for one decision. ID makes it idempotent: the same id is the
// same command. At is the decision's time, given from outside.
type Command struct {
	ID       string
	Instance string
	At       time.Time
	Actor    string // who asks: "developer/agent-7", "github:octocat", "operator:ann"
	Do       Action
}

// Action is what a command does.
type Action interface{ action() }

// Open starts an instance.
type Open struct {
	Issue  Issue
	Base   string // commit to start from, if known
	Bundle string // object that carries it
	State  string // one of the definition's entries; empty: the initial state
	Vars   map[string]string
	After  []string // instances that have to end well first
	Parent string   // the instance that opens it
	// Bundles carry Base when it takes more than one: the oldest first, each with
	// the commit it brings. An instance that goes on with another's work needs them.
	Bundles []Bundle
}

// Claim claims the work that commit Work dispatched, for Lease.
type Claim struct {
	Role  string
	Agent string
	Work  uint64
	Lease time.Duration
}

// Heartbeat extends the lease.
type Heartbeat struct {
	Token uint64
	Lease time.Duration
}

// Lapse gives work to the work queue that was given to an agent directly, as
// commit Work, and is no longer claimed.
type Lapse struct{ Work uint64 }

// Report ends the claim with a result; the definition decides where the instance goes.
type Report struct {
	Token  uint64
	Result Result
}

// Release gives the work back untouched; it is dispatched again at once.
type Release struct {
	Token  uint64
	Reason string
}

// Fail gives the work back because of an infrastructure fault.
type Fail struct {
	Token  uint64
	Reason string
}

// Signal is a named event from outside.
type Signal struct {
	Name string
	Ref  string
	Data map[string]string
	// Evidence is a snapshot of the world that guards may read.
	Evidence []Evidence
}

// Ask puts a question to people, under the claim.
type Ask struct {
	Token uint64
	Text  string
}

// Inquire puts questions to other roles, under the claim, which ends: the
// instance pauses until all are answered (pipeline lifecycle, asking questions).
type Inquire struct {
	Token     uint64
	Questions []Inquiry
	Head      string // what the work is at meanwhile, with Bundle; empty: unchanged
	Bundle    string
	Sections  map[string]string // of the document, as in a Result
}

// Inquiry is one question to a role.
type Inquiry struct {
	To       string `json:"to"`
	Question string `json:"question"`
}

// Escalate puts the matter to people, under the claim. If it requires them, the
// claim ends and the instance pauses until somebody resolves it.
type Escalate struct {
	Token         uint64
	Reason        string
	RequiresHuman bool
	Head          string // as in an Inquire
	Bundle        string
	Sections      map[string]string
}

// Resolve resolves escalation Number; 0 is the one that holds the instance.
type Resolve struct {
	Number int
	Text   string
}

// Expire says that the stay which began with commit Entered has lasted to the
// deadline of Level. Decide looks at the time itself.
type Expire struct {
	Entered uint64
	Level   workflow.Level
}

// Wake gives the owner the state again that was parked until Until.
type Wake struct{ Until time.Time }

// End says how a linked instance ended.
type End struct {
	Instance string
	State    string
	Well     bool
}

// Migrate goes on under the definition that Decide is given with it.
type Migrate struct{ Reason string }

// Answer answers question Number.
type Answer struct {
	Number int
	Text   string
}

// Note keeps a note.
type Note struct {
	Kind string
	Text string
}

// Spend books a cost under the claim.
type Spend struct {
	Token uint64
	Spend Cost
}

// Override moves the instance to any state, table or not.
type Override struct {
	To     string
	Reason string
}

// Pause stops dispatch; a live claim is revoked.
type Pause struct{ Reason string }

// Resume undoes Pause.
type Resume struct{ Reason string }

// Cancel closes the instance where it stands.
type Cancel struct{ Reason string }

// Retry dispatches the owner's work again, whoever held it.
type Retry struct{ Reason string }

func (Open) action()      {}
func (Claim) action()     {}
func (Heartbeat) action() {}
func (Lapse) action()     {}
func (Report) action()    {}
func (Release) action()   {}
func (Fail) action()      {}
func (Signal) action()    {}
func (Ask) action()       {}
func (Inquire) action()   {}
func (Escalate) action()  {}
func (Resolve) action()   {}
func (Expire) action()    {}
func (Wake) action()      {}
func (End) action()       {}
func (Migrate) action()   {}
func (Answer) action()    {}
func (Note) action()      {}
func (Spend) action()     {}
func (Override) action()  {}
func (Pause) action()     {}
func (Resume) action()    {}
func (Cancel) action()    {}
func (Retry) action()     {}
