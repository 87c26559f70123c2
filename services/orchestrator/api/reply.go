package api

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/series"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// reply answers a command that was taken. role is empty for people's commands.
func (s *Server) reply(ctx context.Context, name, role string, out engine.Outcome) *pb.CommandReply {
	p := &pb.CommandReply{Seq: out.Seq, Duplicate: out.Duplicate}
	switch {
	case role == "":
		p.Instance = s.standing(ctx, out.Instance)
	case brief(name):
		p.Instance = outline(out.Instance)
	default:
		p.Instance = s.job(ctx, out.Instance)
	}
	for _, e := range out.Events {
		switch e := e.(type) {
		case instance.Claimed:
			if e.Direct && name != subject.Claim { // it is told to who waited
				continue
			}
			p.Token, p.Lease = uint32(e.Token), timestamppb.New(e.Lease)
			p.Task = s.task(ctx, out.Instance, e.Role)
		case instance.LeaseExtended:
			p.Token, p.Lease = uint32(e.Token), timestamppb.New(e.Lease)
		}
	}
	return p
}

// job is the instance as an agent is told of it that has not seen it yet: without
// how often and for how long it was in each state.
func (s *Server) job(ctx context.Context, in instance.Instance) *pb.Instance {
	attempt := in.Visited(in.State)
	in.Previous, in.Visits = series.New(in.Previous.Newest(pastOfJob)...), nil
	p := s.standing(ctx, in)
	p.Attempt, p.TimeInState, p.TotalTime = int32(attempt), nil, nil
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

// outline is where an instance is, and whose turn it is.
func outline(in instance.Instance) *pb.Instance {
	return &pb.Instance{
		Instance: in.ID, Workflow: in.Workflow, State: in.State, Kind: string(in.Kind), Owner: in.Owner, Worker: in.Worker(),
		Iteration: int32(in.Iteration), Work: in.Work, Seq: in.Seq, Paused: in.Paused, Closed: string(in.Closed),
	}
}

// standing is the instance as it is now, with what its definition says of it, if
// that can be read.
func (s *Server) standing(ctx context.Context, in instance.Instance) *pb.Instance {
	def, err := s.Engine.Definitions.Hashed(ctx, in.Definition)
	if err != nil {
		return wire.Instance(in)
	}
	return wire.Standing(def, in, time.Now())
}

// task tells a claiming agent what its state, or a question, asks for.
func (s *Server) task(ctx context.Context, in instance.Instance, role string) *pb.Task {
	def, err := s.Engine.Definitions.Hashed(ctx, in.Definition)
	if err != nil {
		return nil
	}
	if q, asked := in.Inquiry(); asked {
		t := task(def, in.State, role)
		t.Question, t.Next = wire.Question(q), nil
		return t
	}
	what := [3]string{in.Definition, in.State, role}
	if t, known := s.tasks.Load(what); known {
		return t.(*pb.Task)
	}
	t, _ := s.tasks.LoadOrStore(what, task(def, in.State, role))
	return t.(*pb.Task)
}

func task(def *workflow.Definition, in, role string) *pb.Task {
	state, _ := def.State(in)
	t := &pb.Task{About: state.About, Policy: make(map[string]string, len(def.Policy)), Writes: def.WrittenBy(role)}
	for name, value := range def.Policy {
		t.Policy[name] = fmt.Sprint(value)
	}
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
