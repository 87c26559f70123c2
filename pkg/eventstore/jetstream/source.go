package jetstream

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/eventstore"
)

// source makes commits of what one consumer delivers, and checks that nothing is
// missing.
type source struct {
	next      uint64 // the sequence that has to come next
	delivered uint64 // how many came
}

// commit is that of the next delivery.
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
	return c, err
}

// placed returns where a delivered message is, in the consumer's deliveries and in
// the stream: the subject to acknowledge it on says so, also of one that is not to
// be acknowledged.
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
