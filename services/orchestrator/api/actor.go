package api

import (
	"context"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// actor names who asks. An agent is its role and name, whatever it claims to be.
func actor(role string, p *pb.Command) string {
	name := p.GetActor()
	if name == "" {
		name = p.GetClaim().GetAgent()
	}
	switch {
	case role == "" && name == "":
		return "operator"
	case role == "":
		return name
	case name == "":
		return role
	}
	return role + "/" + name
}

// entitled refuses who asks for what they are not: people who say that they are
// an agent, and agents that move an instance by hand though no definition says
// that their role may.
func (s *Server) entitled(ctx context.Context, role string, cmd instance.Command) *pb.Refusal {
	if as, _, agent := strings.Cut(cmd.Actor, "/"); role == "" && agent && !strings.Contains(as, ":") {
		return invalid("the actor %q is an agent's: agents ask under %s", cmd.Actor, must(subject.AgentsOf("role")))
	}
	if _, overrides := cmd.Do.(instance.Override); role == "" || !overrides {
		return nil
	}
	in, err := s.Engine.Get(ctx, cmd.Instance)
	if err != nil {
		return refusal(err)
	}
	def, err := s.Engine.Definitions.Hashed(ctx, in.Definition)
	if err != nil {
		return refusal(err)
	}
	if may := def.May[subject.Override]; !slices.Contains(may, role) {
		return &pb.Refusal{Code: string(instance.CodeForbidden), Message: role + " may not override in " + def.Name, Allowed: may}
	}
	return nil
}
