package api

import (
	"context"
	"fmt"
	"time"

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
