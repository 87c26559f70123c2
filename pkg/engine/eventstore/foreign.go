package eventstore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Foreign describes a message of the log that is no commit and does not claim to be
// one: another program wrote it. It is set aside: it keeps its sequence, and nothing
// follows from it.
type Foreign struct {
	Subject string
	Size    int       // bytes of its data
	First   string    // the first bytes of its data, quoted in ASCII
	Stored  time.Time // when it came into the log; zero: not known
}

// maxFirst is how many bytes of a foreign message are shown.
const maxFirst = 60

// SetAside returns what Read passes in place of a commit for a foreign message. Its
// Chain is a hash of the subject and the data, so that a message that was exchanged
// is noticed.
func SetAside(seq uint64, subject string, data []byte, stored time.Time) Commit {
	sum := sha256.Sum256(netstring(netstring(nil, subject), data))
	return Commit{Seq: seq, Chain: hex.EncodeToString(sum[:]), Foreign: &Foreign{
		Subject: subject, Size: len(data), First: fmt.Sprintf("%+q", data[:min(len(data), maxFirst)]), Stored: stored,
	}}
}

// String describes the message in one line.
func (f Foreign) String() string {
	since := ""
	if !f.Stored.IsZero() {
		since = ", there since " + f.Stored.UTC().Format(time.RFC3339)
	}
	more := ""
	if f.Size > maxFirst {
		more = "…"
	}
	return fmt.Sprintf("a message on %+q that is no commit is set aside: %d bytes%s: %s%s", f.Subject, f.Size, since, f.First, more)
}
