package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// commandReply returns the reply to a command that the engine executed.
func (s *Server) commandReply(ctx context.Context, r request, name string, out engine.Outcome) *pb.CommandReply {
	reply := &pb.CommandReply{Seq: out.Seq, Duplicate: out.Duplicate}
	switch {
	case r.role == "":
		reply.Instance = s.instanceMessage(ctx, out.Instance)
	case compact(name):
		reply.Instance = wire.Compact(out.Instance)
	default:
		reply.Instance = wire.AgentView(out.Instance, maxPreviousStates)
		if def, err := s.Engine.Definitions.Hashed(ctx, out.Instance.Definition); err == nil {
			reply.Instance.NextDeadline = wire.NextDeadline(def, out.Instance)
		}
	}
	if name == subject.Heartbeat || name == subject.Spend {
		reply.Over = s.Engine.Over(out.Instance, r.role)
	}
	for _, e := range out.Events {
		switch e := e.(type) {
		case instance.Claimed:
			if e.Direct && name != subject.Claim { // the claim that waited has a reply of its own
				continue
			}
			reply.Token, reply.Lease = wire.Token(e.Token), wire.Stamp(e.Lease)
			s.setTask(ctx, r, reply, out.Instance, e.Role)
		case instance.LeaseExtended:
			reply.Token, reply.Lease = wire.Token(e.Token), wire.Stamp(e.Lease)
		}
	}
	return reply
}

// maxPreviousStates bounds the previous states in the reply to a claim, so that the reply does not grow
// with the instance's history.
const maxPreviousStates = 64

// compact reports whether the reply to an agent's command names only the instance's state and owner. An
// agent that gives one of these commands has the instance.
func compact(name string) bool {
	switch name {
	case subject.Heartbeat, subject.Report, subject.Release, subject.Fail, subject.Spend, subject.Note:
		return true
	}
	return false
}

// instanceMessage returns the instance's message with what its definition says of its state, if the
// definition can be loaded.
func (s *Server) instanceMessage(ctx context.Context, in instance.Instance) *pb.Instance {
	def, err := s.Engine.Definitions.Hashed(ctx, in.Definition)
	if err != nil {
		return wire.FullView(in)
	}
	return wire.WithDeadlines(def, in, time.Now())
}

// stateTask is what a state asks of the agent that claimed it. It does not change.
type stateTask struct {
	message *pb.Task
	encoded []byte // a CommandReply with this task alone
}

// setTask adds to a reply what the instance's state, or a question, asks of the agent that claimed it.
// The task of a state is encoded once, and protobuf replies get the bytes: a decoder adds their field to
// the others.
func (s *Server) setTask(ctx context.Context, r request, reply *pb.CommandReply, in instance.Instance, role string) {
	def, err := s.Engine.Definitions.Hashed(ctx, in.Definition)
	if err != nil {
		return
	}
	if q, asked := in.Inquiry(); asked {
		reply.Task = newTask(def, in.State, role, true)
		reply.Task.Question, reply.Task.Next = wire.Question(q), nil
		return
	}
	task := s.stateTask(def, in, role)
	if r.json || task.encoded == nil {
		reply.Task = task.message
		return
	}
	reply.ProtoReflect().SetUnknown(task.encoded)
}

// stateTask returns what the instance's state asks of the role.
func (s *Server) stateTask(def *workflow.Definition, in instance.Instance, role string) stateTask {
	key := [3]string{in.Definition, in.State, role}
	if t, ok := s.tasks.Load(key); ok {
		return t.(stateTask)
	}
	t := stateTask{message: newTask(def, in.State, role, false)}
	t.encoded, _ = proto.Marshal(&pb.CommandReply{Task: t.message})
	kept, _ := s.tasks.LoadOrStore(key, t)
	return kept.(stateTask)
}

// newTask returns what the state, or a question that is asked in it, asks of the role.
func newTask(def *workflow.Definition, stateName, role string, asked bool) *pb.Task {
	state, _ := def.State(stateName)
	t := &pb.Task{About: state.About, Policy: make(map[string]string, len(def.Policy)), Writes: def.WrittenBy(role),
		Writers: def.Writers(), Testers: def.Testers(), Checks: def.Checks()}
	for name, value := range def.Policy {
		t.Policy[name] = fmt.Sprint(value)
	}
	work := def.WorkOf(stateName, role, asked)
	t.Work = &pb.Work{Runs: work.Runs, Change: work.Change, Does: work.Does}
	t.Next = def.Proposals(state)
	return t
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

var errTooLarge = errors.New("the answer is too large for one message")

// margin is the room that a reply leaves in a message for its headers, or for the BatchReply around it.
const margin = 8 << 10

// fit encodes a reply and returns its Content-Type. If it is too large for one message, it cuts the
// texts of the instance in it, and leaves out the oldest notes. People and programs write texts of any
// length. The history has all of them.
func (s *Server) fit(r request, reply proto.Message) ([]byte, string, error) {
	maxBytes := int(s.Conn.MaxPayload()) - margin
	data, kind, err := r.encode(reply)
	holder, ok := reply.(interface{ GetInstance() *pb.Instance })
	for limit := 32 << 10; err == nil && len(data) > maxBytes; limit /= 4 {
		if !ok || holder.GetInstance() == nil || limit < 128 {
			return nil, "", fmt.Errorf("%w: it has %d bytes, want at most %d", errTooLarge, len(data), maxBytes)
		}
		shorten(holder.GetInstance(), limit)
		data, kind, err = r.encode(reply)
	}
	return data, kind, err
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
