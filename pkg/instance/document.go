package instance

import "time"

// Failures counts failures of the work in one state since it was last left
// with success (task lifecycle, failure counting).
type FailureCount struct {
	State string
	Count int
}

// Escalation was put to people (pipeline lifecycle, communication.escalations).
// One that requires them holds the instance until it is resolved.
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

// Parked says that the owner of the state has nothing to do before Until, or,
// if Until is zero, before something happens.
type Parked struct {
	Until  time.Time
	Reason string

	Standing bool // an always rule says so, and it lasts no longer than that holds
}

// LinkKind says what another instance is to this one.
type LinkKind string

const (
	Child LinkKind = "child" // opened by this one
	After LinkKind = "after" // has to end before this one goes on
)

// Link points at another instance and says how that one ended.
type Link struct {
	Instance string
	Kind     LinkKind
	Workflow string // of a child
	State    string // of a child: where it is opened; once it ended: where
	Ended    bool
	Well     bool // it ended by itself, in a state its lifecycle can only reach by success
}
