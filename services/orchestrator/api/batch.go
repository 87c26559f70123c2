package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// batch answers a Batch: each of its commands as if it had come alone, those
// that are done at about the same time in one message.
func (s *Server) batch(m micro.Request) {
	commands, err := wire.Commands(m.Data())
	if err != nil || len(commands) == 0 {
		s.send(m, nil, nats.Header{micro.ErrorCodeHeader: {"400"}, micro.ErrorHeader: {"want a Batch of commands, in protobuf"}})
		return
	}
	role, _, _ := subject.ParseAgent(m.Subject())
	trace := m.Headers().Get("traceparent")
	out := &answers{left: len(commands), most: int(s.Conn.MaxPayload()) - margin/2, send: func(data []byte) { s.send(m, data, nil) }}
	for place, data := range commands {
		r := request{subject: m.Subject(), data: data, plain: true, trace: trace}
		p := new(pb.Command)
		bad := r.decode(p)
		if bad == nil && waits(p) {
			s.wait(role, r.json, p, func(reply proto.Message, no *pb.Refusal) {
				data, _, _ := s.encode(r, refused, reply, no)
				out.add(place, data)
			})
			continue
		}
		s.run(func(ctx context.Context, open bool) (string, *pb.Refusal) {
			name, reply, no := subject.Batch, proto.Message(nil), bad
			if no == nil {
				name, reply, no = s.member(ctx, r, p, role, open)
			}
			data, _, no := s.encode(r, refused, reply, no)
			out.add(place, data)
			return "agent-" + name, no
		})
	}
}

// member carries out one command of a batch, and returns its name.
func (s *Server) member(ctx context.Context, r request, p *pb.Command, role string, open bool) (string, proto.Message, *pb.Refusal) {
	name, action := wire.Action(p, role)
	switch {
	case !slices.Contains(ofAgents(), name):
		return subject.Batch, nil, invalid("a batch takes commands of agents, one in it holds %q", name)
	case !open:
		return name, nil, stopping()
	}
	reply, no := s.carryOut(engine.WithTrace(ctx, r.trace), r.json, name, role, p, action)
	return name, reply, no
}

// gather is how long an answer waits for others of its batch.
const gather = time.Millisecond

// answers gathers those to one batch.
type answers struct {
	send func([]byte)
	most int // bytes in a message

	mu    sync.Mutex
	left  int // commands without an answer
	data  []byte
	armed bool // they will be sent before long
}

func (a *answers) add(place int, reply []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.data)+len(reply) > a.most {
		a.flush()
	}
	a.data = wire.AppendAnswer(a.data, place, reply)
	a.left--
	switch {
	case a.left == 0:
		a.flush()
	case !a.armed:
		a.armed = true
		time.AfterFunc(gather, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.armed = false
			a.flush()
		})
	}
}

func (a *answers) flush() {
	if len(a.data) > 0 {
		a.send(a.data)
		a.data = nil
	}
}
