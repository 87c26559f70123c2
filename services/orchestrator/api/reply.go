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

// reply answers a command that was carried out. role is empty for people's
// commands.
func (s *Server) reply(ctx context.Context, name, role string, out engine.Outcome) *pb.CommandReply {
	p := &pb.CommandReply{Seq: out.Seq, Duplicate: out.Duplicate}
	switch {
	case role == "":
		p.Instance = s.standing(ctx, out.Instance)
	case brief(name):
		p.Instance = wire.Compact(out.Instance)
	default:
		p.Instance = wire.AgentView(out.Instance, pastOfJob)
		if def, err := s.Engine.Definitions.Hashed(ctx, out.Instance.Definition); err == nil {
			p.Instance.NextDeadline = wire.NextDeadline(def, out.Instance)
		}
	}
	for _, e := range out.Events {
		switch e := e.(type) {
		case instance.Claimed:
			if e.Direct && name != subject.Claim { // it is told to who waited
				continue
			}
			p.Token, p.Lease = wire.Token(e.Token), wire.Stamp(e.Lease)
			p.Task = s.task(ctx, out.Instance, e.Role)
		case instance.LeaseExtended:
			p.Token, p.Lease = wire.Token(e.Token), wire.Stamp(e.Lease)
		}
	}
	return p
}

// pastOfJob is how many of the states an instance has been in an agent is told:
// what a step costs must not grow with those before it.
const pastOfJob = 64

// brief reports whether an agent that gives the command knows the instance, so
// that all it needs to be told is where that led.
func brief(name string) bool {
	switch name {
	case subject.Heartbeat, subject.Report, subject.Release, subject.Fail, subject.Spend, subject.Note:
		return true
	}
	return false
}

// standing is the instance as it is now, with what its definition says of it, if
// that can be read.
func (s *Server) standing(ctx context.Context, in instance.Instance) *pb.Instance {
	def, err := s.Engine.Definitions.Hashed(ctx, in.Definition)
	if err != nil {
		return wire.FullView(in)
	}
	return wire.WithDeadlines(def, in, time.Now())
}

// task tells a claiming agent what its state, or a question, asks for.
func (s *Server) task(ctx context.Context, in instance.Instance, role string) *pb.Task {
	def, err := s.Engine.Definitions.Hashed(ctx, in.Definition)
	if err != nil {
		return nil
	}
	if q, asked := in.Inquiry(); asked {
		t := task(def, in.State, role, true)
		t.Question, t.Next = wire.Question(q), nil
		return t
	}
	what := [3]string{in.Definition, in.State, role}
	if t, known := s.tasks.Load(what); known {
		return t.(*pb.Task)
	}
	t, _ := s.tasks.LoadOrStore(what, task(def, in.State, role, false))
	return t.(*pb.Task)
}

// task is what the state, or a question asked in it, asks of the role.
func task(def *workflow.Definition, in, role string, asked bool) *pb.Task {
	state, _ := def.State(in)
	t := &pb.Task{About: state.About, Policy: make(map[string]string, len(def.Policy)), Writes: def.WrittenBy(role)}
	for name, value := range def.Policy {
		t.Policy[name] = fmt.Sprint(value)
	}
	work := def.WorkOf(in, role, asked)
	t.Work = &pb.Work{Runs: work.Runs, Change: work.Change, Does: work.Does}
	if state.Proposes {
		t.Next = next(state)
	}
	return t
}

func next(s workflow.State) []string {
	var out []string
	for _, t := range s.Next {
		out = append(out, t.To)
	}
	return out
}
