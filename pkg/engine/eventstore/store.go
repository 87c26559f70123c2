// Package eventstore is the log. Commits are appended one decision at a time under
// optimistic concurrency, and read back per instance and in order of the whole log.
package eventstore

import (
	"context"
	"errors"
)

// Store is the log. All methods are safe for concurrent use.
type Store interface {
	// Append stores c if c.Prev is still the instance's newest commit and
	// returns its sequence. ErrConflict means that another commit came first. A
	// retried append whose reply was lost is recognised by its ID and Chain, and
	// returns the first sequence. An ID of another commit is ErrDuplicate.
	// ErrInvalid and ErrTooLarge say that c can never be stored. After any other
	// error, ctx's included, c may or may not be stored: append it again to know.
	Append(ctx context.Context, c Commit) (uint64, error)
	// Head returns the sequence of the log's newest commit, or of a newer message
	// that is no commit; 0 when it is empty.
	Head(ctx context.Context) (uint64, error)
	// Last returns the instance's newest commit, or ErrUnknown.
	Last(ctx context.Context, instance string) (Commit, error)
	// Load returns all commits of the instance, oldest first, or ErrUnknown.
	// A missing commit or a broken chain is ErrCorrupt.
	Load(ctx context.Context, instance string) ([]Commit, error)
	// Since returns the instance's commits after the one at sequence after, oldest
	// first, or none. Its cost does not grow with the instance's past. The caller
	// checks that they are chained to the commit at after. If after is not zero and
	// the instance has no commit there, that is ErrCorrupt.
	Since(ctx context.Context, instance string, after uint64) ([]Commit, error)
	// Page returns the oldest commits of a part of the instance's past that have room. more reports that others of the part
	// follow. Its cost grows with the page alone. An instance without commits is ErrUnknown. The caller checks how
	// the first commit is chained.
	Page(ctx context.Context, instance string, p Part) (commits []Commit, more bool, err error)
	// Gather returns the instance's commits at sequences that the caller knows, in their order: all at once, where Load gets
	// each after the one that it precedes. If one is not there, or is another instance's, that is ErrCorrupt.
	Gather(ctx context.Context, instance string, seqs []uint64) ([]Commit, error)
	// Read calls f for each commit from sequence from on, in order, and continues
	// with new ones. A message that is no commit comes with Commit.Foreign; no
	// other method returns one, and Append is not kept back by one. It calls caught, which may be nil, once: when it has read the
	// commits that the log had at the start. Read ends with ctx, or with f's error.
	// A gap in the sequences, or a log that ends before from-1, is ErrCorrupt.
	Read(ctx context.Context, from uint64, f func(Commit) error, caught func()) error
}

// Part is a part of an instance's past.
type Part struct {
	// After and Until are sequences, which need not be those of commits of the instance. It begins behind After and ends with
	// Until, if that is not zero.
	After, Until uint64
	// Size is how many bytes of Data have room in a page. The first commit always has.
	Size int
}

// Beyond reports whether a commit comes after the part.
func (p Part) Beyond(c Commit) bool { return p.Until > 0 && c.Seq > p.Until }

// Errors a caller branches on.
var (
	// ErrConflict: load the instance and decide again.
	ErrConflict = errors.New("the instance has moved on")
	// ErrDuplicate: the command made another commit before. It always wraps
	// ErrConflict, since the remedy is the same. A store
	// remembers IDs for at least two minutes, those of one instance's commits
	// after Prev for ever.
	ErrDuplicate = errors.New("the command id is spent")
	ErrUnknown   = errors.New("no such instance")
	// ErrCorrupt: the log is not what was written. Stop, and ask a person.
	ErrCorrupt  = errors.New("the log is damaged")
	ErrInvalid  = errors.New("not a commit")
	ErrTooLarge = errors.New("the commit is too large")
)
