package api

import (
	"runtime"
	"slices"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

// A command of a batch goes through these phases. A command of its own does, too, from newRequest on.
//
//	permit.go    requester   the party that sent it may send commands of its role
//	request.go   decode      its message
//	request.go   command     its name is one that agents send; a claim that waits goes to wait
//	request.go   run         on a worker
//	permit.go    authorize   its actor
//	request.go   execute     the engine decides
//	request.go   reply       the only place that replies
//	batch.go     add         replies of the same moment, as one message

// batch handles the commands of a Batch concurrently, each as if it had been sent alone. Each is replied
// to as soon as it is handled. Replies of the same moment share a BatchReply.
func (s *Server) batch(m micro.Request) {
	party, published, role, no := s.requester(m, subject.Batch)
	commands, err := wire.Commands(m.Data())
	if err != nil || len(commands) == 0 {
		s.send(m, nil, nats.Header{micro.ErrorCodeHeader: {"400"}, micro.ErrorHeader: {"want a Batch of commands, in protobuf"}})
		return
	}
	trace := m.Headers().Get("traceparent")
	for place, data := range commands {
		s.command(request{
			name: "agent-" + subject.Batch, subject: published, role: role, party: party, data: data, untyped: true, trace: trace, refused: refusedCommand,
			send: func(data []byte, _ nats.Header) { s.batchReplies.add(m, place, data) },
		}, no, "")
	}
}

// maxBatchReply bounds the bytes of a BatchReply that has more than one reply.
const maxBatchReply = 64 << 10

// batchReplies sends the replies to commands of batches. It is safe for concurrent use.
type batchReplies struct {
	send func(to micro.Request, data []byte)

	mu             sync.Mutex
	pending        []batchReply
	flushScheduled bool
}

// batchReply is the answers of a BatchReply, and the Batch that it replies to.
type batchReply struct {
	to      micro.Request
	answers []wire.Answer
	size    int // bytes of the answers
}

// add sends the reply to the command at the index place of a Batch, before long.
func (b *batchReplies) add(to micro.Request, place int, reply []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.flushScheduled {
		b.flushScheduled = true
		go func() {
			runtime.Gosched() // what can run now may have replies to the same batches
			b.flush()
		}()
	}
	i := slices.IndexFunc(b.pending, func(p batchReply) bool { return p.to == to && p.size+len(reply) < maxBatchReply })
	if i < 0 {
		i, b.pending = len(b.pending), append(b.pending, batchReply{to: to})
	}
	p := &b.pending[i]
	p.answers, p.size = append(p.answers, wire.Answer{Number: place, Reply: reply}), p.size+len(reply)
}

// flush sends all that was added. When it returns, the connection has it.
func (b *batchReplies) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.pending {
		b.send(p.to, wire.BatchReply(p.answers...))
	}
	b.pending, b.flushScheduled = nil, false
}
