package baseline

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// publisher appends each message by itself. All acknowledgements come over one
// subscription.
type publisher struct{ js jetstream.JetStream }

func newPublisher(conn *nats.Conn) publisher {
	js, _ := jetstream.New(conn) // cannot fail without options
	return publisher{js}
}

func (p publisher) append(ctx context.Context, m *nats.Msg) (uint64, error) {
	answer, err := p.js.PublishMsgAsync(m)
	if err != nil {
		return 0, err
	}
	select {
	case ack := <-answer.Ok():
		return ack.Sequence, nil
	case err := <-answer.Err():
		return 0, err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// batcher appends messages in groups, as atomic batches. Messages that come while a batch
// is appended go with the next one.
type batcher struct {
	conn   *nats.Conn
	single publisher // for a group of one
	queue  chan *pending
	done   chan struct{}
}

// pending is a message to append. Its result is set by run.
type pending struct {
	ctx  context.Context
	msg  *nats.Msg
	seq  uint64
	err  error
	done chan struct{} // closed when seq and err are set
}

// maxBatch is the most messages that a server takes in one batch.
const maxBatch = 1000

func newBatcher(conn *nats.Conn) *batcher {
	b := &batcher{conn, newPublisher(conn), make(chan *pending, maxBatch), make(chan struct{})}
	go b.run()
	return b
}

func (b *batcher) append(ctx context.Context, m *nats.Msg) (uint64, error) {
	p := &pending{ctx: ctx, msg: m, done: make(chan struct{})}
	b.queue <- p
	<-p.done
	return p.seq, p.err
}

func (b *batcher) stop() {
	close(b.queue)
	<-b.done
}

// run appends groups until stop is called.
func (b *batcher) run() {
	defer close(b.done)
	for first := range b.queue {
		group := []*pending{first}
		for more := true; more && len(group) < maxBatch; {
			select {
			case p, ok := <-b.queue:
				if more = ok; ok {
					group = append(group, p)
				}
			default:
				more = false
			}
		}
		if len(group) == 1 {
			first.seq, first.err = b.single.append(first.ctx, first.msg)
		} else {
			b.commit(group)
		}
		for _, p := range group {
			close(p.done)
		}
	}
}

// commit appends a group as one batch.
func (b *batcher) commit(group []*pending) {
	id := nuid.Next()
	last := group[len(group)-1]
	var err error
	for i, p := range group {
		p.msg.Header.Set("Nats-Batch-Id", id)
		p.msg.Header.Set("Nats-Batch-Sequence", strconv.Itoa(i+1))
		if p != last {
			err = errors.Join(err, b.conn.PublishMsg(p.msg))
		}
	}
	last.msg.Header.Set("Nats-Batch-Commit", "1")
	answer, failed := b.conn.RequestMsgWithContext(last.ctx, last.msg)
	if err = errors.Join(err, failed); err == nil {
		var ack struct {
			Seq   uint64              `json:"seq"`
			Error *jetstream.APIError `json:"error"`
		}
		if err = json.Unmarshal(answer.Data, &ack); err == nil && ack.Error != nil {
			err = ack.Error
		}
		last.seq = ack.Seq
	}
	for i, p := range group {
		p.seq, p.err = last.seq-uint64(len(group)-1-i), err
	}
}
