package eventstore

import (
	"fmt"
	"regexp"
	"time"

	"github.com/signalbox/signalbox/pkg/subject"
)

// MaxData is the most bytes a commit's Data may have: what a server's default
// limit of 1 MiB a message leaves beside the headers.
const MaxData = 1<<20 - 4<<10

// Commit is one decision: all its events, one message. Data is opaque here.
type Commit struct {
	ID       string // the command's id; also the message id: 1 to 128 visible ASCII characters
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

var (
	idForm    = regexp.MustCompile(`^[!-~]{1,128}$`)
	traceForm = regexp.MustCompile(`^[!-~]{0,128}$`)
	chainForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Check says why c cannot be stored: ErrInvalid or ErrTooLarge. It does not
// know the previous commit, so it takes any well-formed Chain.
func (c Commit) Check() error {
	_, err := c.Subject()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	case !idForm.MatchString(c.ID):
		return c.invalid("id", c.ID, idForm)
	case !traceForm.MatchString(c.Trace):
		return c.invalid("traceparent", c.Trace, traceForm)
	case !chainForm.MatchString(c.Chain):
		return c.invalid("chain", c.Chain, chainForm)
	case c.Time.UTC().Year() < 0 || c.Time.UTC().Year() > 9999:
		return fmt.Errorf("%w: commit %s of %q: the year is %d, want 0 to 9999", ErrInvalid, c.ID, c.Instance, c.Time.UTC().Year())
	case len(c.Data) > MaxData:
		return fmt.Errorf("%w: commit %s of %q has %d bytes of data, want at most %d", ErrTooLarge, c.ID, c.Instance, len(c.Data), MaxData)
	}
	return nil
}

func (c Commit) invalid(field, value string, form *regexp.Regexp) error {
	return fmt.Errorf("%w: %s %.140q of a commit of %q, want %s", ErrInvalid, field, value, c.Instance, form)
}

// Subject returns the subject c is published on.
func (c Commit) Subject() (string, error) {
	return subject.Event{Workflow: c.Workflow, State: c.State, Instance: c.Instance, Wakes: c.Wakes}.Subject()
}
