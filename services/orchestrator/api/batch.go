package api

import (
	"context"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

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
			out.waits(place)
			s.wait(role, p, func(of engine.Outcome, no *pb.Refusal) { s.answer(out, place, r, subject.Claim, role, of, no) })
			continue
		}
		s.run(func(ctx context.Context, open bool) (string, *pb.Refusal) {
			name, action := wire.Action(p, role)
			of, no := engine.Outcome{}, bad
			switch {
			case bad != nil:
				name = subject.Batch
			case !slices.Contains(ofAgents(), name):
				name, no = subject.Batch, invalid("a batch takes commands of agents, one in it holds %q", name)
			case !open:
				no = stopping()
			default:
				of, no = s.carryOut(engine.WithTrace(ctx, trace), role, p, action)
			}
			return "agent-" + name, s.answer(out, place, r, name, role, of, no)
		})
	}
}

// answer answers one command of a batch.
func (s *Server) answer(to *answers, place int, r request, name, role string, out engine.Outcome, no *pb.Refusal) *pb.Refusal {
	data, _, no := s.encode(r, refused, s.replies(context.Background(), name, role, out, no), no)
	to.add(place, data)
	return no
}
