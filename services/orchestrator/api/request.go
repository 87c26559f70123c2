package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"mime"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Content types of sb.api.
const (
	JSON     = "application/json"
	Protobuf = "application/protobuf"
)

// request is one request, or one command of a batch.
type request struct {
	name    string       // of the endpoint, for the metric
	subject string       // that it was published on
	role    string       // of the agent; empty for a person's command and for a query
	party   access.Party // that the server attests; the orchestrator for its own account, and on a server without accounts
	data    []byte
	json    bool
	untyped bool // it has no Content-Type
	trace   string
	refused func(*pb.Refusal) proto.Message       // makes the reply that holds a refusal
	send    func(data []byte, header nats.Header) // sends the reply; called once
}

// newRequest returns the request in a message, and a refusal if its form is wrong.
func (s *Server) newRequest(m micro.Request, name string, refused func(*pb.Refusal) proto.Message) (request, *pb.Refusal) {
	contentType := m.Headers().Get("Content-Type")
	r := request{
		name: name, data: m.Data(), untyped: contentType == "", trace: m.Headers().Get("traceparent"), refused: refused,
		send: func(data []byte, h nats.Header) { s.send(m, data, h) },
	}
	var no *pb.Refusal
	r.party, r.subject, r.role, no = s.requester(m, name)
	kind := contentType
	if kind != JSON && kind != Protobuf {
		kind, _, _ = mime.ParseMediaType(contentType)
	}
	// Without a known Content-Type the reply has the form that the request seems to have.
	r.json = kind == JSON || kind != Protobuf && (len(r.data) == 0 || r.data[0] == '{')
	switch {
	case no != nil:
	case contentType != "" && kind != JSON && kind != Protobuf:
		return r, invalid("Content-Type %.100q: want %s or %s", contentType, JSON, Protobuf)
	case len(r.data) > maxRequest:
		return r, invalid("a request has at most %d bytes, this one has %d", maxRequest, len(r.data))
	}
	return r, no
}

// decode decodes the request into m, or returns the refusal of a malformed one.
func (r request) decode(m proto.Message) *pb.Refusal {
	var err error
	if r.json && len(r.data) > 0 {
		err = protojson.Unmarshal(r.data, m)
	} else if !r.json {
		err = proto.Unmarshal(r.data, m)
	}
	if err != nil {
		return invalid("not a %s: %v", m.ProtoReflect().Descriptor().Name(), err)
	}
	return nil
}

// encode encodes m in the request's form and returns its Content-Type.
func (r request) encode(m proto.Message) (data []byte, contentType string, err error) {
	if r.json {
		data, err = protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
		return data, JSON, err
	}
	data, err = wire.Marshal(m)
	return data, Protobuf, err
}

// size returns how many bytes m takes in a reply, or 0 if it cannot be encoded.
func (r request) size(m proto.Message) int {
	data, _, _ := r.encode(m)
	return len(data)
}

// reply sends the reply to a request that began at start. A refusal is sent both in the body and in the
// micro framework's error headers. reply may be nil if there is a refusal.
func (s *Server) reply(r request, start time.Time, reply proto.Message, no *pb.Refusal) {
	if no != nil {
		no.Message = cut(strings.ToValidUTF8(no.Message, "\uFFFD"), maxMessage)
		if reply == nil {
			reply = r.refused(no)
		}
	}
	data, contentType, err := s.fit(r, reply)
	if err != nil {
		no = &pb.Refusal{Code: string(instance.CodeUndecided), Message: "the answer cannot be encoded"}
		if errors.Is(err, errTooLarge) {
			no = invalid("%v", err)
		}
		data, contentType, _ = r.encode(r.refused(no))
	}
	var header nats.Header
	if r.json || !r.untyped || no != nil { // a request without a header gets a reply without one
		header = nats.Header{"Content-Type": {contentType}}
	}
	if no != nil {
		header[micro.ErrorCodeHeader] = []string{cmp.Or(status[no.Code], "500")}
		header[micro.ErrorHeader] = []string{cmp.Or(no.Message, no.Code)}
		if no.Code == string(instance.CodeInvalid) || no.Code == string(instance.CodeUndecided) || no.Code == CodeUnavailable {
			level := slog.LevelWarn
			if no.Message == isStopping {
				level = slog.LevelInfo // whoever asks tries again
			}
			s.Log.Log(context.Background(), level, "request refused", "subject", r.subject, "code", no.Code, "message", no.Message)
		}
	}
	r.send(data, header)
	if s.Answered != nil {
		s.Answered(r.name, no.GetCode(), time.Since(start))
	}
}

// send sends a reply to m. It does not use m.Respond: the framework reads what that leaves in m as soon
// as the handler has returned. That is before there is a reply.
func (s *Server) send(m micro.Request, data []byte, header nats.Header) {
	err := nats.ErrMsgNoReply
	if m.Reply() != "" {
		err = s.Conn.PublishMsg(&nats.Msg{Subject: m.Reply(), Header: header, Data: data})
	}
	if err != nil {
		s.Log.Error("answer lost", "subject", m.Subject(), "error", err)
	}
}
