// Package instance is the core: one work item under one definition. Decide turns
// a command into events or a refusal; Evolve applies events to the state. Decide
// is pure and Evolve is total. Neither knows the name of a state, reads a clock or
// makes ids: the command carries both.
package instance

import (
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/question"
	"github.com/signalbox/signalbox/pkg/engine/series"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Instance is the state of one work item: the fold of its commits. It is a value:
// Evolve returns a new one and never writes to what an older one refers to.
type Instance struct {
	ID         string
	Workflow   string
	Definition string // content hash of the definition it was opened with
	Issue      Issue
	OpenedAt   time.Time

	State     string
	Kind      workflow.Kind
	Owner     string // role that works in State; empty if none does
	EnteredAt time.Time
	Entered   uint64         // sequence of the commit that entered State
	Timeout   time.Duration  // expected length of a stay in State; 0: unlimited
	Level     workflow.Level // newest deadline of this stay that was recorded; empty: none
	Since     time.Time      // from when the deadlines of a resumed wait count; zero: EnteredAt
	LeftWait  LeftWait       // the newest stay in a wait that was left
	Previous  Past           // every state left, oldest first (previous_states)
	Visits    []Visit        // how often each state was entered, in order of first entry
	Iteration int            // moves made (iteration_count)
	Returns   int            // moves into a state entered before, since it last waited
	Loop      bool           // the definition's loop rule held at the last move

	Claim  *ActiveClaim // newest claim since the last move, lapsed or not; nil if none
	Tokens uint64       // newest fencing token
	Work   uint64       // sequence of the newest commit that dispatched work
	Direct bool         // a waiting agent claimed Work in that commit: no queue has it

	Paused bool
	Closed Closed // how it ended; empty while it is open
	Reason string // of the newest move or cancel; while paused, of the pause

	MoveReason string // of the newest move; it is Reason again once a pause has ended

	Base      string // git commit the work started from
	Head      string // git commit the work is at
	Bundles   []Bundle
	Evidence  []Evidence // the newest of each name
	Last      *Result    // of the newest step
	LastState string     // where Last was reported
	Failure   Signature
	Faults    int // infrastructure faults in this state since it was entered
	Failures  []FailureCount
	Failed    bool // the newest move was a failure of the work
	Questions []Question
	Notes     []NoteEntry
	Spend     Total
	Raised    Raise // of the budget, by people
	Artifacts []Artifact

	Vars        map[string]string // as text; the definition has the types
	Sections    map[string]string // the document: JSON by section name
	Escalations []Escalation
	Parked      *Parked // the owner has nothing to do; nil otherwise
	Woken       bool    // something happened under the live claim: the owner must look again
	Parent      string  // the instance that opened this one
	Links       []Link  // instances that this one opened or comes after

	Seq       uint64    // sequence of the newest commit
	UpdatedAt time.Time // its time
}

// Past is the list of states that were left, oldest first. It only grows.
type Past = series.List[string]

// Visit counts entries into a state.
type Visit struct {
	State string
	Count int
	Total time.Duration // time spent in it, the current stay excluded
}

// ActiveClaim is the right of one agent to work until Lease. Token is the fencing
// token: only the newest may report.
type ActiveClaim struct {
	Token uint64
	Role  string
	Agent string
	At    time.Time
	Lease time.Time
}

// Live reports whether the claim holds at t.
func (c *ActiveClaim) Live(t time.Time) bool { return c != nil && t.Before(c.Lease) }

// Closed is how an instance ended.
type Closed string

const (
	Ended     Closed = "ended"     // in a final state
	Cancelled Closed = "cancelled" // by a person, wherever it was
)

// Bundle is an object that carries commits of the work.
type Bundle struct {
	Object string
	Head   string
	Role   string // that left the commits; empty: the instance was opened with them
}

// Signature identifies a failure.
type Signature struct {
	Value   string
	Repeats int // how often in succession the same one came back
}

// FailureCount counts the failures of the work in one state since it was last
// left with success (task lifecycle, failure counting).
type FailureCount struct {
	State string
	Count int
}

// Escalation is a matter put to people (pipeline lifecycle,
// communication.escalations). With RequiresHuman it holds the instance until it is
// resolved.
type Escalation struct {
	Number        int       `json:"number"`
	Agent         string    `json:"agent"` // the role
	Reason        string    `json:"reason"`
	RequiresHuman bool      `json:"requires_human"`
	At            time.Time `json:"at"`
	Resolved      bool      `json:"resolved"`
	Resolution    string    `json:"resolution,omitempty"`
	By            string    `json:"by,omitempty"`
}

// Parked means that the owner of the state has nothing to do before Until or, if
// Until is zero, before the next event.
type Parked struct {
	Until    time.Time
	Reason   string
	Standing bool // an always rule parked it: the park ends when that rule no longer holds
	WaitsFor Wait // what Hold parked it for; empty: a rule parked it
}

// LinkKind is the relation of a linked instance to this one.
type LinkKind string

const (
	Child LinkKind = "child" // opened by this one
	After LinkKind = "after" // has to end before this one goes on
)

// Link refers to another instance and says how that one ended.
type Link struct {
	Instance string
	Kind     LinkKind
	Workflow string // of a child
	State    string // in which a child is opened; after the end, the final state
	Ended    bool
	Well     bool // it ended in a state that its lifecycle reaches by success only
}

// Issue is the report that an instance was opened with.
type Issue struct {
	Repo   string   `json:"repo,omitempty"`   // owner/name on the forge
	Number int      `json:"number,omitempty"` // 0: not on a forge
	Title  string   `json:"title"`
	Body   string   `json:"body"`
	Labels []string `json:"labels,omitempty"`
	Author string   `json:"author,omitempty"`
	URL    string   `json:"url,omitempty"`
	// Permission is the author's on the repository when the issue was taken up: admin,
	// maintain, write, triage, read or none. It is write if a person whose account may act
	// had the gateway make the issue. It is empty if nobody asked.
	Permission string `json:"permission,omitempty"`
	// AdmittedBy had it taken up, by a label, if the author may not start work.
	AdmittedBy string `json:"admitted_by,omitempty"`
	// Config is the configuration of the repository that was in force when it was taken up.
	// Nil: there was none.
	Config *Configuration `json:"config,omitempty"`
}

// Configured returns the configuration that was in force, the zero one for none.
func (i Issue) Configured() Configuration {
	if i.Config == nil {
		return Configuration{}
	}
	return *i.Config
}

// Configuration is what an instance keeps of the configuration of its repository. The
// instance goes on under it, whatever becomes of the file.
type Configuration struct {
	File   string `json:"file,omitempty"`   // OWNER/NAME:PATH
	Commit string `json:"commit,omitempty"` // that the file was read from
	Hash   string `json:"hash,omitempty"`   // SHA-256 of the file, in hexadecimal digits
	// Policy are values that narrow those of the lifecycle: see workflow.Definition.Narrow.
	Policy  map[string]string `json:"policy,omitempty"`
	Protect []string          `json:"protect,omitempty"` // paths that agents may not change, as git's globs
	Brains  []string          `json:"brains,omitempty"`  // that may work, as patterns; none: all
	Limits  []Limit           `json:"limits,omitempty"`  // of work under way in the repository
	Days    []DayBudget       `json:"days,omitempty"`    // of what a day may cost in the repository
	// Labels are those that triage may set, by what it found: see triage.Keys. None: it sets none.
	Labels map[string]string `json:"labels,omitempty"`
	// Notify are the events that targets of notifications get, by the name of the target, with commas between them.
	Notify map[string]string `json:"notify,omitempty"`
	// Problem is the fault of a newer file that is not in force. People get it
	// in a comment on the issue.
	Problem string `json:"problem,omitempty"`
}

// Question is a question to people or, if To is set, to a role. Numbers count from
// 1 within an instance.
type Question struct {
	Number   int       `json:"number"`
	From     string    `json:"from"` // the role
	To       string    `json:"to,omitempty"`
	Text     string    `json:"text"`
	AskedAt  time.Time `json:"asked_at"`
	Answered bool      `json:"answered"`
	Answer   string    `json:"answer,omitempty"`
	By       string    `json:"by,omitempty"`

	// Withdrawn means that the instance moved before the role answered.
	Withdrawn bool `json:"withdrawn,omitempty"`
	// RunOnly means that nothing is asked for but what the work runs, on the code as it is.
	RunOnly bool `json:"run_only,omitempty"`

	question.Form           // of the answer of people
	Deadline      time.Time `json:"deadline,omitzero"`    // when the default is taken, or people wish to know
	ByDefault     bool      `json:"by_default,omitempty"` // nobody answered before the deadline: the answer is the default
	Used          bool      `json:"used,omitempty"`       // an agent works with the answer: people cannot change it any more
}

// NoteEntry is a remark that moves nothing.
type NoteEntry struct {
	Author string    `json:"author"`
	Kind   string    `json:"kind"` // learning, comment, warning, …
	Text   string    `json:"text"`
	At     time.Time `json:"at"`
}

// LeftWait is a stay in a waiting state that was left. A move that resumes the wait goes
// on with its deadlines.
type LeftWait struct {
	State string
	Since time.Time // from when its deadlines counted
	Level workflow.Level
}

// DeadlinesSince returns the time that the deadlines of the current stay count from.
func (in Instance) DeadlinesSince() time.Time {
	if in.Since.IsZero() {
		return in.EnteredAt
	}
	return in.Since
}

// Exists reports whether the instance was ever opened.
func (in Instance) Exists() bool { return in.Workflow != "" }

// returnsAfter returns the value of Returns after a move to a state. Leaving a wait
// resets it: people or another system moved the instance.
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

// OpenQuestions returns the questions to people that have no answer.
func (in Instance) OpenQuestions() []Question {
	var open []Question
	for _, q := range in.Questions {
		if !q.Answered && q.To == "" {
			open = append(open, q)
		}
	}
	return open
}

// Inquiry returns the question to a role that is to be answered next. It is the
// newest: an inquired role may ask another role first. ok is false if none is open.
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

// Worker returns the role that works next: the inquired role while a question to
// a role is open, else the owner of the state. It is empty while an escalation
// holds the instance, and in a final state.
func (in Instance) Worker() string {
	if _, held := in.Escalation(); held || in.Kind == workflow.Final {
		return ""
	}
	if q, ok := in.Inquiry(); ok {
		return q.To
	}
	return in.Owner
}

// Repo returns the repository of its issue, OWNER/NAME, else the one in its id, OWNER/NAME/REST.
func (in *Instance) Repo() string {
	if in.Issue.Repo != "" {
		return in.Issue.Repo
	}
	owner, rest, _ := strings.Cut(in.ID, "/")
	name, _, ok := strings.Cut(rest, "/")
	if !ok {
		return ""
	}
	return in.ID[:len(owner)+1+len(name)]
}

// WaitsForPeople reports whether only people can move the instance. An escalation holds it,
// or it is in a wait. No question to a role is open, and every instance that it comes after
// has ended.
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

// WaitingOn returns how many of the instances that this one comes after have not ended well.
func (in Instance) WaitingOn() int {
	n := 0
	for _, l := range in.Links {
		if l.Kind == After && !(l.Ended && l.Well) {
			n++
		}
	}
	return n
}
