package api

import (
	"context"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// actor returns the actor of a command: an agent's role and name, whatever the command says, or the
// name that a person's command gives. role is empty for people.
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

// authorize refuses people's commands that name an agent as their actor, and overrides of agents whose
// role may not override in the instance's lifecycle.
func (s *Server) authorize(ctx context.Context, role string, cmd instance.Command) *pb.Refusal {
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
