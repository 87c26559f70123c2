package instance

import (
	"time"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// Command asks for one decision. ID makes it idempotent: a command with a known
// ID is carried out once. At is the time of the decision; Decide reads no clock.
type Command struct {
	ID       string
	Instance string
	At       time.Time
	Actor    string // "developer/agent-7", "github:octocat", "operator:ann"
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
	After  []string // instances that must end well first
	Parent string   // the instance that opens it
	// Bundles carry Base if one bundle does not: the oldest first, each with the git
	// commit it brings. An instance that continues another's work needs them.
	Bundles []Bundle
}

// Claim gives an agent the right to do the work that commit Work dispatched, for
// the duration of Lease.
type Claim struct {
	Role  string
	Agent string
	Work  uint64
	Lease time.Duration
}

// Heartbeat extends the lease: it then ends Lease after the command's time.
type Heartbeat struct {
	Token uint64
	Lease time.Duration
}

// Lapse dispatches directly claimed work to the queue after its claim has ended.
// Work is the commit that dispatched it.
type Lapse struct{ Work uint64 }

// Report ends the claim with a result. The definition decides the next state.
type Report struct {
	Token  uint64
	Result Result
}

// Release gives the work back untouched. It is dispatched again at once.
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
	// Evidence is what the sender checked, for guards to read.
	Evidence []Evidence
}

// Ask puts a question to people, under the claim. The claim goes on.
type Ask struct {
	Token uint64
	Text  string
}

// Inquire puts questions to other roles and ends the claim. The owner of the state
// gets the work back once all are answered (pipeline lifecycle, asking questions).
type Inquire struct {
	Token     uint64
	Questions []Inquiry
	Head      string // git commit the work is at so far, carried by Bundle; empty: unchanged
	Bundle    string
	Sections  map[string]string // of the document, as in a Result
}

// Inquiry is one question to a role.
type Inquiry struct {
	To       string `json:"to"`
	Question string `json:"question"`
}

// Escalate puts a matter to people, under the claim. With RequiresHuman the claim
// ends, and no role works until somebody resolves the escalation.
type Escalate struct {
	Token         uint64
	Reason        string
	RequiresHuman bool
	Head          string // as in Inquire
	Bundle        string
	Sections      map[string]string
}

// Resolve is people's decision on escalation Number; 0 means the one that holds the
// instance.
type Resolve struct {
	Number int
	Text   string
}

// Expire says that the stay that began with commit Entered reached the deadline of
// Level. Decide checks it against the command's time.
type Expire struct {
	Entered uint64
	Level   workflow.Level
}

// Wake ends a park at its time Until and dispatches the work.
type Wake struct{ Until time.Time }

// End says how a linked instance ended.
type End struct {
	Instance string
	State    string
	Well     bool
}

// Migrate replaces the instance's definition with the one passed to Decide.
type Migrate struct{ Reason string }

// Answer answers question Number for people.
type Answer struct {
	Number int
	Text   string
}

// Note records a remark.
type Note struct {
	Kind string
	Text string
}

// Spend records a cost under the claim, before its result.
type Spend struct {
	Token uint64
	Spend Cost
}

// Override moves the instance to any state of the definition.
type Override struct {
	To     string
	Reason string
}

// Pause stops dispatch and ends the claim.
type Pause struct{ Reason string }

// Resume ends a pause.
type Resume struct{ Reason string }

// Cancel closes the instance in its state.
type Cancel struct{ Reason string }

// Retry dispatches the work again. It is refused while a claim is live.
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
