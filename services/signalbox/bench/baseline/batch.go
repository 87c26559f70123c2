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

// batcher appends what is ready as one atomic batch; what gets ready while that
// is under way goes with the next.
type batcher struct {
	conn  *nats.Conn
	one   publisher
	queue chan *pending
	done  chan struct{}
}

type pending struct {
	ctx context.Context
	msg *nats.Msg
	seq uint64
	err error
	set chan struct{} // closed when seq or err is set
}

// most is how many messages a server takes in one batch.
const most = 1000

func newBatcher(conn *nats.Conn) *batcher {
	b := &batcher{conn, newPublisher(conn), make(chan *pending, most), make(chan struct{})}
	go b.run()
	return b
}

func (b *batcher) append(ctx context.Context, m *nats.Msg) (uint64, error) {
	p := &pending{ctx: ctx, msg: m, set: make(chan struct{})}
	b.queue <- p
	<-p.set
	return p.seq, p.err
}

func (b *batcher) stop() {
	close(b.queue)
	<-b.done
}

func (b *batcher) run() {
	defer close(b.done)
	for first := range b.queue {
		group := []*pending{first}
		for more := true; more && len(group) < most; {
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
			first.seq, first.err = b.one.append(first.ctx, first.msg)
		} else {
			b.commit(group)
		}
		for _, p := range group {
			close(p.set)
		}
	}
}

// commit appends a group.
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
