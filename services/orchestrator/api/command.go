package api

import (
	"context"
	"time"

	"github.com/nats-io/nuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/wire"
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
		out, no := s.carryOut(ctx, role, p, action)
		return s.replies(ctx, name, role, out, no), no
	}
}

// carryOut carries out a command that an agent of the role gives, or somebody else
// if that is empty.
func (s *Server) carryOut(ctx context.Context, role string, p *pb.Command, action instance.Action) (engine.Outcome, *pb.Refusal) {
	if no := named(p.GetInstance()); no != nil {
		return engine.Outcome{}, no
	}
	cmd := instance.Command{ID: p.GetId(), Instance: p.GetInstance(), Actor: actor(role, p), Do: action}
	if no := s.entitled(ctx, role, cmd); no != nil {
		return engine.Outcome{}, no
	}
	if cmd.ID == "" {
		cmd.ID = nuid.Next()
	}
	out, err := s.Engine.Handle(ctx, cmd, wire.Definition(p))
	if err != nil {
		return out, refusal(err)
	}
	return out, nil
}

// replies answers a command that was carried out or refused.
func (s *Server) replies(ctx context.Context, name, role string, out engine.Outcome, no *pb.Refusal) proto.Message {
	if no == nil {
		return s.reply(ctx, name, role, out)
	}
	reply := &pb.CommandReply{Refusal: no}
	if no.Code == string(instance.CodeHeld) && !out.Free.IsZero() {
		reply.Lease, reply.LeaseLeft = timestamppb.New(out.Free), durationpb.New(max(0, time.Until(out.Free)))
	}
	return reply
}

// named refuses what cannot be an instance's id.
func named(id string) *pb.Refusal {
	if err := subject.CheckInstance(id); err != nil {
		return invalid("instance: %v", err)
	}
	return nil
}
