package api

import (
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/wire"
)

// batch handles the commands of a Batch concurrently, each as if it had been sent alone. Each is replied
// to as soon as it is handled, in a BatchReply of its own.
func (s *Server) batch(m micro.Request) {
	commands, err := wire.Commands(m.Data())
	if err != nil || len(commands) == 0 {
		s.send(m, nil, nats.Header{micro.ErrorCodeHeader: {"400"}, micro.ErrorHeader: {"want a Batch of commands, in protobuf"}})
		return
	}
	role, _, _ := subject.ParseAgent(m.Subject())
	trace := m.Headers().Get("traceparent")
	for place, data := range commands {
		s.command(request{
			name: "agent-" + subject.Batch, subject: m.Subject(), role: role, data: data, untyped: true, trace: trace, refused: refusedCommand,
			send: func(data []byte, _ nats.Header) { s.send(m, wire.AppendAnswer(nil, place, data), nil) },
		}, nil, "")
	}
}
