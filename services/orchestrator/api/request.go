package api

import (
	"mime"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

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
