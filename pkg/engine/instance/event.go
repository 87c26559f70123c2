package instance

import (
	"time"
)

// Event is one fact. The events of one decision share a Commit, and with it time,
// actor and sequence. Each event stands in the file of the command that records it.
type Event interface {
	// apply changes the instance as the event says. It is total, reads no definition, and
	// writes to nothing that the instance refers to.
	apply(in *Instance, c Commit)
}

// Commit is one decision: its events in order, stored as one message of the log.
type Commit struct {
	Seq    uint64
	ID     string // the command's
	At     time.Time
	Actor  string
	Events []Event
}
