package eventstore

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// MaxData is the most bytes a commit's Data may have: the rest that the headers
// leave of a server's default limit of 1 MiB a message.
const MaxData = 1<<20 - 4<<10

// Commit is one decision: all its events, one message. Data is opaque here.
type Commit struct {
	ID       string // the command's id; also the message id: 1 to 128 visible ASCII characters
	Workflow string // with State, the subject
	State    string // what the subject names: the instance's state now, or the role that the commit is addressed to, "@tester"
	Instance string
	Wakes    bool      // the owner of State, or the role that is addressed, has work
	Time     time.Time // when it was decided, UTC, nanoseconds kept
	Prev     uint64    // sequence of the instance's previous commit; 0 opens it
	Data     []byte
	Trace    string // W3C traceparent, may be empty

	Seq   uint64 // set by the store
	Chain string // hex SHA-256 over the previous commit's Chain and this one; set by NextChain

	// Erased is set if texts of the commit were erased. Chain is of the commit before that. Erased has the key that
	// signed for what is left, and its signature: pkg/engine/eventstore/seal. The store does not check it.
	Erased string

	// Foreign is set by Store.Read for a message that is no commit. Such a Commit
	// has a Seq and a Chain of its own, and nothing else.
	Foreign *Foreign
}

// firstTime and lastTime bound the years 0 to 9999, in seconds since 1970.
const firstTime, lastTime = -62167219200, 253402300799

// maxHeader is the most characters an ID or a Trace may have.
const maxHeader = 128

// Check returns why c cannot be stored: ErrInvalid or ErrTooLarge. It does not
// know the previous commit, so it takes any well-formed Chain.
func (c Commit) Check() error {
	err := c.event().Check()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	case c.ID == "" || !visible(c.ID):
		return fmt.Errorf("%w: id %.140q of a commit of %q, want 1 to %d visible ASCII characters", ErrInvalid, c.ID, c.Instance, maxHeader)
	case !visible(c.Trace):
		return fmt.Errorf("%w: traceparent %.140q of commit %s of %q, want at most %d visible ASCII characters",
			ErrInvalid, c.Trace, c.ID, c.Instance, maxHeader)
	case len(c.Erased) > 4*maxHeader || !printable(c.Erased):
		return fmt.Errorf("%w: the erasure %.140q of commit %s of %q, want a key and a signature", ErrInvalid, c.Erased, c.ID, c.Instance)
	case !chained(c.Chain):
		return fmt.Errorf("%w: chain %.140q of commit %s of %q, want what NextChain makes", ErrInvalid, c.Chain, c.ID, c.Instance)
	case c.Time.Unix() < firstTime || c.Time.Unix() > lastTime:
		return fmt.Errorf("%w: commit %s of %q: the year is %d, want 0 to 9999", ErrInvalid, c.ID, c.Instance, c.Time.UTC().Year())
	case len(c.Data) > MaxData:
		return fmt.Errorf("%w: commit %s of %q has %d bytes of data, want at most %d", ErrTooLarge, c.ID, c.Instance, len(c.Data), MaxData)
	}
	return nil
}

// visible reports whether s can be the value of a header as it is.
func visible(s string) bool {
	return len(s) <= maxHeader && !strings.Contains(s, " ") && printable(s)
}

// printable reports whether s is ASCII without control characters.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// chained reports whether s has the form of a Chain.
func chained(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 2*sha256.Size
}

// Subject returns the subject c is published on.
func (c Commit) Subject() (string, error) {
	return c.event().Subject()
}

func (c Commit) event() subject.Event {
	return subject.Event{Workflow: c.Workflow, State: c.State, Instance: c.Instance, Wakes: c.Wakes}
}
