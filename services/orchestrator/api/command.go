package api

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// command answers the endpoint of one command.
func (s *Server) command(name string) func(context.Context, request) (proto.Message, *pb.Refusal) {
	return func(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
		p := new(pb.Command)
		if no := r.decode(p); no != nil {
			return nil, no
		}
		role, _, _ := subject.ParseAgent(r.subject) // empty on the subjects of people
		is, action := wire.Action(p, role)
		if is != name {
			return nil, invalid("%s takes a %q, the message holds %q", r.subject, name, is)
		}
		if no := named(p.GetInstance()); no != nil {
			return nil, no
		}
		cmd := instance.Command{ID: p.GetId(), Instance: p.GetInstance(), Actor: actor(role, p), Do: action}
		if no := s.entitled(ctx, role, cmd); no != nil {
			return nil, no
		}
		if cmd.ID == "" {
			cmd.ID = nuid.Next()
		}
		out, err := s.Engine.Handle(ctx, cmd, wire.Definition(p))
		if err != nil {
			no := refusal(err)
			reply := &pb.CommandReply{Refusal: no}
			if no.Code == string(instance.Held) && !out.Free.IsZero() {
				reply.Lease = timestamppb.New(out.Free)
			}
			return reply, no
		}
		return s.reply(ctx, out), nil
	}
}

// named refuses what cannot be an instance's id.
func named(id string) *pb.Refusal {
	if err := subject.CheckInstance(id); err != nil {
		return invalid("instance: %v", err)
	}
	return nil
}

func (s *Server) reply(ctx context.Context, out engine.Outcome) *pb.CommandReply {
	p := &pb.CommandReply{Seq: out.Seq, Duplicate: out.Duplicate, Instance: s.standing(ctx, out.Instance)}
	for _, e := range out.Events {
		switch e := e.(type) {
		case instance.Claimed:
			p.Token, p.Lease = uint32(e.Token), timestamppb.New(e.Lease)
			p.Task = s.task(ctx, out.Instance, e.Role)
		case instance.LeaseExtended:
			p.Token, p.Lease = uint32(e.Token), timestamppb.New(e.Lease)
		}
	}
	return p
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
	state, _ := def.State(in.State)
	t := &pb.Task{About: state.About, Policy: make(map[string]string, len(def.Policy)), Writes: def.WrittenBy(role)}
	for name, value := range def.Policy {
		t.Policy[name] = fmt.Sprint(value)
	}
	switch q, asked := in.Inquiry(); {
	case asked:
		t.Question = wire.Question(q)
	case state.Proposes:
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
