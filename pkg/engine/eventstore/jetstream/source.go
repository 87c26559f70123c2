package jetstream

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// source decodes what one consumer delivers, and checks that nothing is missing.
// It is not safe for concurrent use.
type source struct {
	next      uint64 // sequence that has to come next
	delivered uint64 // number of deliveries so far
}

// commit decodes the next delivery. errLost means that a delivery is missing,
// ErrCorrupt that a sequence is.
func (s *source) commit(subj, ack string, h nats.Header, data []byte) (eventstore.Commit, error) {
	delivery, seq, err := placed(ack)
	if err != nil {
		return eventstore.Commit{}, fmt.Errorf("read sequence %d: %w", s.next, err)
	}
	if s.delivered++; delivery != s.delivered {
		return eventstore.Commit{}, fmt.Errorf("%w: a delivery went missing", errLost)
	}
	if seq != s.next {
		return eventstore.Commit{}, fmt.Errorf("%w: sequences %d to %d are missing", eventstore.ErrCorrupt, s.next, seq-1)
	}
	c, err := decode(subj, h, data, seq)
	if err == nil {
		s.next++
	}
	if c.Foreign != nil {
		c.Foreign.Stored = storedAt(ack)
	}
	return c, err
}

// placed parses the subject that a message is acknowledged on. It returns the
// message's number among the consumer's deliveries, and its sequence.
func placed(ack string) (delivery, seq uint64, err error) {
	rest, ours := strings.CutPrefix(ack, "$JS.ACK.")
	skip := 3 // the stream, the consumer, how often
	if strings.Count(rest, ".") > 6 {
		skip = 5 // and the domain and the account before
	}
	for range skip {
		_, rest, _ = strings.Cut(rest, ".")
	}
	stream, rest, _ := strings.Cut(rest, ".")
	count, _, _ := strings.Cut(rest, ".")
	seq, err = strconv.ParseUint(stream, 10, 64)
	if err == nil {
		delivery, err = strconv.ParseUint(count, 10, 64)
	}
	if err != nil || !ours {
		return 0, 0, fmt.Errorf("%q is no delivery: %w", ack, nats.ErrNotJSMessage)
	}
	return delivery, seq, nil
}
