package instance

import (
	"time"
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

// Action is what a command does. Each has a file, with the events that it records.
type Action interface {
	// decide records the events of the action in d, or returns a *Refusal.
	decide(d *decision) error
}
