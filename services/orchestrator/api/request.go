package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nuid"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
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

func refusedCommand(no *pb.Refusal) proto.Message { return &pb.CommandReply{Refusal: no} }

// alone returns the handler of an endpoint that takes one kind of command.
func (s *Server) alone(name string) micro.HandlerFunc {
	return func(m micro.Request) {
		r, no := s.newRequest(m, name, refusedCommand)
		if r.role != "" {
			r.name = "agent-" + name
		}
		s.command(r, no, name)
	}
}

// command decodes one command, starts its handling and returns. The reply is sent when it is handled. no
// is the refusal of a malformed request. want names the only permitted kind of command; in a batch it is
// empty, and all kinds of agents' commands are permitted.
func (s *Server) command(r request, no *pb.Refusal, want string) {
	p := new(pb.Command)
	if no == nil {
		no = r.decode(p)
	}
	name, action := wire.Action(p, r.role)
	switch {
	case no != nil:
	case want != "" && name != want:
		no = invalid("%s takes a %q, the message holds %q", r.subject, want, name)
	case want == "" && !slices.Contains(subject.AgentCommands(), name):
		no = invalid("a batch takes commands of agents, one in it holds %q", name)
	case want == "":
		r.name = "agent-" + name
	}
	switch start := time.Now(); {
	case no == nil && p.GetClaim().GetWaitMs() > 0:
		s.wait(r, start, p)
	case no == nil:
		s.run(s.workers, r, func(ctx context.Context) (proto.Message, *pb.Refusal) { return s.execute(ctx, r, name, p, action) })
	default:
		s.reply(r, start, nil, no)
	}
}

// maxWait bounds how long a claim may wait for work.
const maxWait = 2 * time.Second

// wait queues a claim that waits for work, and returns, or refuses one that cannot wait. The reply is sent when the claim gets work, or when its time is over. No worker is busy meanwhile.
func (s *Server) wait(r request, start time.Time, p *pb.Command) {
	c := p.GetClaim()
	claim := instance.Claim{Role: r.role, Agent: c.GetAgent(), Lease: time.Duration(c.GetLeaseMs()) * time.Millisecond, Program: c.GetProgram()}
	wait := time.Duration(c.GetWaitMs()) * time.Millisecond
	var no *pb.Refusal
	switch {
	case p.GetInstance() != "" || c.GetWork() != 0:
		no = invalid("a claim with wait_ms takes what comes: it names no instance and no work")
	case claim.Agent == "" || claim.Lease <= 0:
		no = invalid("a claim names its agent and a lease above zero")
	case wait > maxWait:
		no = invalid("wait_ms is %d, want at most %d", c.GetWaitMs(), maxWait.Milliseconds())
	case !s.begin():
		no = stopping()
	}
	if no != nil {
		s.reply(r, start, nil, no)
		return
	}
	s.Engine.Wait(claim, wait, func(out engine.Outcome, err error) {
		defer s.requests.Done()
		var reply proto.Message
		if err == nil {
			reply = s.commandReply(context.Background(), r, subject.Claim, out)
		}
		s.reply(r, start, reply, refusal(err))
	})
}

// run calls handle on a worker and replies to the request with what it returns. If the server is closed
// it refuses the request.
func (s *Server) run(workers *workerPool, r request, handle func(ctx context.Context) (proto.Message, *pb.Refusal)) {
	start := time.Now()
	if s.begin() {
		workers.run(func() {
			defer s.requests.Done()
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			reply, no := handle(engine.WithTrace(ctx, r.trace))
			s.reply(r, start, reply, no)
		})
		return
	}
	s.reply(r, start, nil, stopping())
}

// execute has the engine execute a command, and returns the reply.
func (s *Server) execute(ctx context.Context, r request, name string, p *pb.Command, action instance.Action) (proto.Message, *pb.Refusal) {
	if err := subject.CheckInstance(p.GetInstance()); err != nil {
		return nil, invalid("instance: %v", err)
	}
	as, no := attest(r.party, s.GitHubRight, name, actor(r.role, p), p.GetRight())
	if no != nil {
		return nil, no
	}
	cmd := instance.Command{ID: p.GetId(), Instance: p.GetInstance(), Actor: as, Do: action}
	if no := s.authorize(ctx, r.role, cmd); no != nil {
		return nil, no
	}
	if cmd.ID == "" {
		cmd.ID = nuid.Next()
	}
	var out engine.Outcome
	n, isNote := action.(instance.Note)
	if isNote && learning.IsKind(n.Kind) {
		out, no = s.note(ctx, r.role, cmd, n)
	} else {
		if isNote {
			n.Learning = nil // it says nothing of other kinds
			cmd.Do = n
		}
		var err error
		out, err = s.Engine.Handle(ctx, cmd, wire.Definition(p))
		no = refusal(err)
	}
	if no == nil {
		return s.commandReply(ctx, r, name, out), nil
	}
	reply := &pb.CommandReply{Refusal: no}
	if no.Code == string(instance.CodeHeld) && !out.Free.IsZero() { // until when the other claim holds
		reply.Lease, reply.LeaseLeft = timestamppb.New(out.Free), durationpb.New(max(0, time.Until(out.Free)))
	}
	return reply, no
}

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
	if name == subject.Heartbeat || name == subject.Spend {
		reply.Over = s.Engine.Over(out.Instance, r.role)
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

// workerPool runs tasks concurrently, on goroutines that it keeps. A new goroutine for each request
// would have to grow its stack each time. That is a tenth of the CPU of a step, which the goal of the
// bench row `throughput`, default mode, separate nats-server, cannot spare.
type workerPool struct {
	tasks   chan func()   // nil ends a worker
	slots   chan struct{} // one for each worker
	workers sync.WaitGroup
}

// newWorkerPool returns a pool of at most size workers.
func newWorkerPool(size int) *workerPool {
	return &workerPool{tasks: make(chan func()), slots: make(chan struct{}, size)}
}

// run hands the task to an idle worker, or to a new one. It blocks while all workers are busy.
func (p *workerPool) run(task func()) {
	select {
	case p.tasks <- task:
		return
	default:
	}
	select {
	case p.tasks <- task:
	case p.slots <- struct{}{}:
		p.workers.Go(func() {
			for ; task != nil; task = <-p.tasks {
				task()
			}
		})
	}
}

// close ends the workers when their tasks have ended, and waits for them. No task may be run afterwards.
func (p *workerPool) close() {
	close(p.tasks)
	p.workers.Wait()
}
