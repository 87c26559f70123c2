// Package eventstore is the log: commits appended one decision at a time under
// optimistic concurrency, read back per instance and in order of the whole log.
package eventstore

import (
	"context"
	"errors"
)

// Store is the log. All methods are safe for concurrent use.
type Store interface {
	// Append stores c if c.Prev is still the instance's newest commit and
	// returns its sequence. ErrConflict says another commit came first. An
	// append whose answer was lost and is retried is recognised by its ID and
	// its Chain and succeeds with the first sequence; an ID that was spent on
	// another commit is ErrDuplicate. ErrInvalid and ErrTooLarge say that c can
	// never be stored. After any other error, ctx's included, c may or may not
	// be stored: append the very same commit again to find out.
	Append(ctx context.Context, c Commit) (uint64, error)
	// Head returns the sequence of the log's newest commit; 0 when it is empty.
	Head(ctx context.Context) (uint64, error)
	// Last returns the instance's newest commit, or ErrUnknown.
	Last(ctx context.Context, instance string) (Commit, error)
	// Load returns all commits of the instance, oldest first, or ErrUnknown.
	// A missing commit or a broken chain is ErrCorrupt.
	Load(ctx context.Context, instance string) ([]Commit, error)
	// Since returns the instance's commits after the one at sequence after, oldest
	// first, or none: what somebody who knows that one has not seen yet. Its cost
	// is that of what it returns, however long the instance's past is. Whether
	// they are chained to what is known is the caller's to check; an instance that
	// has no commit at after, which is not zero, is ErrCorrupt.
	Since(ctx context.Context, instance string, after uint64) ([]Commit, error)
	// Read calls f for each commit from sequence from on, in order, and goes on
	// with those that come; caught is called once, when the commits that were
	// there at the start have been read; it may be nil. Read ends with ctx, or
	// with f's error. A gap in the sequences, or a log that ends before from-1, is ErrCorrupt.
	Read(ctx context.Context, from uint64, f func(Commit) error, caught func()) error
}

// Errors a caller branches on.
var (
	// ErrConflict: load the instance and decide again.
	ErrConflict = errors.New("the instance has moved on")
	// ErrDuplicate: the command was carried out before, as another commit. It
	// always comes with ErrConflict, for the remedy is the same. A store
	// remembers IDs for at least two minutes, those of one instance's commits
	// after Prev for ever.
	ErrDuplicate = errors.New("the command id is spent")
	ErrUnknown   = errors.New("no such instance")
	// ErrCorrupt: the log is not what was written. Stop, and ask a person.
	ErrCorrupt  = errors.New("the log is damaged")
	ErrInvalid  = errors.New("not a commit")
	ErrTooLarge = errors.New("the commit is too large")
)
