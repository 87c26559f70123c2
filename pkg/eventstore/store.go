// Package eventstore is the log: commits appended one decision at a time under
// optimistic concurrency, read back per instance and in order of the whole log.
package eventstore

import (
	"context"
	"errors"
	"time"
)

// Commit is one decision: all its events, one message. Data is opaque here.
type Commit struct {
	ID       string // the command's id; also the message id
	Workflow string // with State, the subject: where the instance is now
	State    string
	Instance string
	Wakes    bool      // the owner of State has something to do
	Time     time.Time // when it was decided, UTC, nanoseconds kept
	Prev     uint64    // sequence of the instance's previous commit; 0 opens it
	Data     []byte
	Trace    string // W3C traceparent, may be empty

	Seq   uint64 // set by the store
	Chain string // hex SHA-256 over the previous commit's Chain and this one; set by NextChain
}

// Store is the log. All methods are safe for concurrent use.
type Store interface {
	// Append stores c if c.Prev is still the instance's newest commit and
	// returns its sequence. ErrConflict says another commit came first. An
	// append whose answer was lost and is retried is recognised by its ID and
	// succeeds with the first sequence.
	Append(ctx context.Context, c Commit) (uint64, error)
	// Last returns the instance's newest commit, or ErrUnknown.
	Last(ctx context.Context, instance string) (Commit, error)
	// Load returns all commits of the instance, oldest first, or ErrUnknown.
	// A missing commit or a broken chain is ErrCorrupt.
	Load(ctx context.Context, instance string) ([]Commit, error)
	// Read calls f for each commit from sequence from on, in order, and goes on
	// with those that come; caught is called once, when the commits that were
	// there at the start have been read. It ends with ctx, or with f's error.
	// A gap in the sequences is ErrCorrupt.
	Read(ctx context.Context, from uint64, f func(Commit) error, caught func()) error
}

// Errors a caller branches on.
var (
	ErrConflict = errors.New("the instance has moved on")
	ErrUnknown  = errors.New("no such instance")
	ErrCorrupt  = errors.New("the log is damaged")
)
