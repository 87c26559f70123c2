package instance

import "time"

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
}

// Take claims the work that commit Work dispatched, for Lease.
type Take struct {
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
}

// Ask puts a question to people, under the claim.
type Ask struct {
	Token uint64
	Text  string
}

// Reply answers question Number.
type Reply struct {
	Number int
	Text   string
}

// Remark keeps a note.
type Remark struct {
	Kind string
	Text string
}

// Charge books a cost under the claim.
type Charge struct {
	Token uint64
	Spend Spend
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
func (Take) action()      {}
func (Heartbeat) action() {}
func (Report) action()    {}
func (Release) action()   {}
func (Fail) action()      {}
func (Signal) action()    {}
func (Ask) action()       {}
func (Reply) action()     {}
func (Remark) action()    {}
func (Charge) action()    {}
func (Override) action()  {}
func (Pause) action()     {}
func (Resume) action()    {}
func (Cancel) action()    {}
func (Retry) action()     {}
