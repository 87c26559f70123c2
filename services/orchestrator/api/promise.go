package api

import (
	"context"

	"github.com/nats-io/nats.go/micro"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/wire"
)

// promise has the claim at a place of a batch be told of its work before that is in
// the log: the log then says so to the agent itself, two ways between processes
// earlier than it would know from here. With it goes the answer to the command that
// made the work, if that is of the same batch.
func (s *Server) promise(m micro.Request, role string, place int, to *answers) *engine.Promise {
	return &engine.Promise{Inbox: m.Reply(), Make: func(out engine.Outcome, command, at string) bool {
		claim, ok := s.promised(subject.Claim, role, out)
		if !ok {
			return false
		}
		data, places := wire.AppendAnswer(nil, place, claim), []int{place}
		if by, ours := to.about(command, out.Instance.ID); ours {
			if reply, ok := s.promised(by.name, role, out); ok {
				data, places = wire.AppendAnswer(data, by.place, reply), append(places, by.place)
			}
		}
		return to.promise(at, wire.AppendPromise(data, at), places)
	}}
}

// promised encodes the reply to a command; ok is false if that is out of the ordinary.
func (s *Server) promised(name, role string, out engine.Outcome) (data []byte, ok bool) {
	w, ok := s.reply(context.Background(), false, name, role, out).(written)
	return w.data, ok
}
