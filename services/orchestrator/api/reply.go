package api

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
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
	for _, e := range out.Events {
		switch e := e.(type) {
		case instance.Claimed:
			if e.Direct && name != subject.Claim { // the claim that waited has a reply of its own
				continue
			}
			reply.Token, reply.Lease = wire.Token(e.Token), wire.Stamp(e.Lease)
			reply.Task = s.task(ctx, out.Instance, e.Role)
		case instance.LeaseExtended:
			reply.Token, reply.Lease = wire.Token(e.Token), wire.Stamp(e.Lease)
		}
	}
	return reply
}

// maxPreviousStates bounds the previous states in the reply to a claim, so that the reply does not grow
// with the instance's history.
const maxPreviousStates = 64

// compact reports whether the reply to an agent's command names only the instance's state and owner: an
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

// task returns what the instance's state, or a question, asks of the agent that claimed it. Tasks of
// states are cached.
func (s *Server) task(ctx context.Context, in instance.Instance, role string) *pb.Task {
	def, err := s.Engine.Definitions.Hashed(ctx, in.Definition)
	if err != nil {
		return nil
	}
	if q, asked := in.Inquiry(); asked {
		t := newTask(def, in.State, role, true)
		t.Question, t.Next = wire.Question(q), nil
		return t
	}
	key := [3]string{in.Definition, in.State, role}
	if t, ok := s.tasks.Load(key); ok {
		return t.(*pb.Task)
	}
	t, _ := s.tasks.LoadOrStore(key, newTask(def, in.State, role, false))
	return t.(*pb.Task)
}

// newTask returns what the state, or a question that is asked in it, asks of the role.
func newTask(def *workflow.Definition, stateName, role string, asked bool) *pb.Task {
	state, _ := def.State(stateName)
	t := &pb.Task{About: state.About, Policy: make(map[string]string, len(def.Policy)), Writes: def.WrittenBy(role)}
	for name, value := range def.Policy {
		t.Policy[name] = fmt.Sprint(value)
	}
	work := def.WorkOf(stateName, role, asked)
	t.Work = &pb.Work{Runs: work.Runs, Change: work.Change, Does: work.Does}
	if state.Proposes {
		t.Next = nextStates(state)
	}
	return t
}

func nextStates(s workflow.State) []string {
	var out []string
	for _, t := range s.Next {
		out = append(out, t.To)
	}
	return out
}
