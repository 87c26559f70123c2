package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Content types of sb.api.
const (
	JSON     = "application/json"
	Protobuf = "application/protobuf"
)

// request is one request with its form.
type request struct {
	subject string
	data    []byte
	json    bool
	plain   bool // it says nothing of its form
	trace   string
}

func read(m micro.Request) (request, *pb.Refusal) {
	r := request{subject: m.Subject(), data: m.Data(), trace: m.Headers().Get("traceparent")}
	given := m.Headers().Get("Content-Type")
	kind := given
	r.plain = given == ""
	if given != JSON && given != Protobuf {
		kind, _, _ = mime.ParseMediaType(given)
	}
	// What says nothing, or nonsense, is answered in what it looks like.
	r.json = kind == JSON || kind != Protobuf && (len(r.data) == 0 || r.data[0] == '{')
	switch {
	case given != "" && kind != JSON && kind != Protobuf:
		return r, invalid("Content-Type %.100q: want %s or %s", given, JSON, Protobuf)
	case len(r.data) > maxRequest:
		return r, invalid("a request has at most %d bytes, this one has %d", maxRequest, len(r.data))
	}
	return r, nil
}

// decode fills m from the request; what is malformed or unknown is refused.
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

func (r request) encode(m proto.Message) ([]byte, string, error) {
	if r.json {
		data, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
		return data, JSON, err
	}
	data, err := proto.Marshal(m)
	return data, Protobuf, err
}

// size is how many bytes m takes in an answer; none if it cannot be encoded,
// which the answer will say.
func (r request) size(m proto.Message) int {
	data, _, _ := r.encode(m)
	return len(data)
}

// respond answers one request and returns the refusal, if it was one. A refusal
// is answered both ways: in the body, and as the framework's error headers.
func (s *Server) respond(ctx context.Context, m micro.Request, e endpoint) *pb.Refusal {
	r, refusal := read(m)
	var reply proto.Message
	if refusal == nil {
		reply, refusal = e.answer(engine.WithTrace(ctx, r.trace), r)
	}
	data, header, refusal := s.encode(r, e.refused, reply, refusal)
	s.send(m, data, header)
	return refusal
}

// encode returns a reply, or the refusal that stands for it, as it is sent.
func (s *Server) encode(r request, refused func(*pb.Refusal) proto.Message, reply proto.Message, refusal *pb.Refusal) ([]byte, nats.Header, *pb.Refusal) {
	if refusal != nil {
		refusal.Message = cut(strings.ToValidUTF8(refusal.Message, "\uFFFD"), maxMessage) // it may repeat what was asked
		if reply == nil {
			reply = refused(refusal)
		}
	}
	data, kind, err := s.fit(r, reply)
	if err != nil {
		refusal = &pb.Refusal{Code: string(instance.CodeUndecided), Message: "the answer cannot be encoded"}
		if errors.Is(err, errTooLarge) {
			refusal = invalid("%v", err)
		}
		data, kind, _ = r.encode(refused(refusal))
	}
	if c := refusal.GetCode(); c == string(instance.CodeInvalid) || c == string(instance.CodeUndecided) || c == Unavailable {
		s.Log.Warn("request refused", "subject", r.subject, "code", c, "message", refusal.GetMessage())
	}
	if !r.json && r.plain && refusal == nil { // protobuf goes without saying among those who never say
		return data, nil, nil
	}
	header := nats.Header{"Content-Type": {kind}}
	if refusal != nil {
		header[micro.ErrorCodeHeader] = []string{cmp.Or(status[refusal.Code], "500")}
		header[micro.ErrorHeader] = []string{cmp.Or(refusal.Message, refusal.Code)}
	}
	return data, header, refusal
}

// send answers m past the framework, which reads what its own answers leave in m
// when the handler has returned: that is before there is an answer.
func (s *Server) send(m micro.Request, data []byte, header nats.Header) {
	err := nats.ErrMsgNoReply
	if m.Reply() != "" {
		err = s.Conn.PublishMsg(&nats.Msg{Subject: m.Reply(), Header: header, Data: data})
	}
	if err != nil {
		s.Log.Error("answer lost", "subject", m.Subject(), "error", err)
	}
}

// maxMessage bounds the text of a refusal, which may repeat what was asked: it
// is sent as a header too.
const maxMessage = 2 << 10

// Unavailable is the code of a refusal that says: not now, ask again with the same id.
const Unavailable = "unavailable"

// NoWork is the code of a refusal that says: none came while you waited, or there
// is some in the queue.
const NoWork = "no_work"

// status maps refusal codes to the framework's error codes, HTTP's meanings.
var status = map[string]string{
	string(instance.CodeInvalid): "400", string(instance.CodeNotOwner): "403", string(instance.CodeUnknownInstance): "404",
	string(instance.CodeExists): "409", string(instance.CodeNotPermitted): "409", string(instance.CodeStale): "409",
	string(instance.CodeHeld): "409", string(instance.CodeLapsed): "409", string(instance.CodePaused): "409",
	string(instance.CodeForbidden): "403", string(instance.CodeEarly): "409",
	string(instance.CodeClosed): "410", NoWork: "404", string(instance.CodeUndecided): "500", Unavailable: "503",
}

func invalid(format string, args ...any) *pb.Refusal {
	return &pb.Refusal{Code: string(instance.CodeInvalid), Message: fmt.Sprintf(format, args...)}
}

// refusal turns an engine's error into an answer.
func refusal(err error) *pb.Refusal {
	if r := new(instance.Refusal); errors.As(err, &r) {
		return wire.Refusal(r)
	}
	if errors.Is(err, engine.ErrNoWork) {
		return &pb.Refusal{Code: NoWork, Message: "no work came"}
	}
	return &pb.Refusal{Code: Unavailable, Message: err.Error()}
}
