package jetstream

import (
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/eventstore"
)

// source makes commits of what one consumer delivers, and sees that nothing is
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
