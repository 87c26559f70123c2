package jetstream

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"strconv"

	"github.com/nats-io/nats.go"
)

// Headers of a message of an atomic batch: the server stores all of a batch or
// nothing, and flushes it to disk once. They stay in the log.
const (
	headerBatch         = "Nats-Batch-Id"
	headerBatchSequence = "Nats-Batch-Sequence"
	headerBatchCommit   = "Nats-Batch-Commit"
)

// publishBatch stores all messages, in this order and without a gap, or none, and
// returns the first one's sequence. The server checks the expected sequences
// against the log before the batch: no two messages may be of one instance.
func (s *Store) publishBatch(ctx context.Context, messages []*nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	// Enough of an id not to meet another batch under way, and short, for it is
	// stored with each message.
	id := rand.Text()[:10]
	last := len(messages) - 1
	for i, m := range messages {
		// A copy: a batch that failed is sent again one by one.
		batched := &nats.Msg{Subject: m.Subject, Data: m.Data, Header: make(nats.Header, len(m.Header)+3)}
		maps.Copy(batched.Header, m.Header)
		batched.Header[headerBatch] = []string{id}
		batched.Header[headerBatchSequence] = []string{strconv.Itoa(i + 1)}
		if i < last {
			if err := s.js.Conn().PublishMsg(batched); err != nil {
				return 0, err
			}
			continue
		}
		batched.Header[headerBatchCommit] = []string{"1"}
		ack, err := s.request(ctx, batched)
		if err != nil {
			return 0, err
		}
		if ack.Batch != id || ack.Count != len(messages) || ack.Seq < uint64(ack.Count) {
			return 0, fmt.Errorf("a batch of %d was acknowledged as one of %d", len(messages), ack.Count)
		}
		return ack.Seq - uint64(last), nil
	}
	return 0, nil
}
