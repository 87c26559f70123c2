package api

import (
	"context"
	"slices"
	"time"

	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

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
	start := time.Now()
	switch {
	case no != nil:
	case p.GetClaim().GetWaitMs() > 0:
		no = s.wait(r, start, p)
	default:
		s.run(r, func(ctx context.Context) (proto.Message, *pb.Refusal) { return s.execute(ctx, r, name, p, action) })
	}
	if no != nil {
		s.reply(r, start, nil, no)
	}
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
