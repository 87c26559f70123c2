package api

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/micro"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// nobody is the requester of a request whose subject names no party.
const nobody = "nobody"

// requester returns the party that the server attests for a request that arrived on a
// subject, and the subject that it was published on. It returns a refusal of a party that may
// not make the request. name is the command or query.
func (s *Server) requester(m micro.Request, name string) (p access.Party, published, role string, no *pb.Refusal) {
	p, published, err := s.Entry.Requester(m.Subject())
	role, _, _ = subject.ParseAgent(published)
	switch own := p.Kind == access.Orchestrator; {
	case err != nil:
		no = forbidden(nil, "the server does not say who sent it: %v", err)
	case own:
	case role != "" && (p.Kind != access.Agent || p.Name != role):
		no = forbidden([]string{role}, "%s gives a command of the role %s", p, role)
	case role == "" && !p.May(name):
		no = forbidden(access.Who(name), "%s may not %s", p, name)
	}
	if no == nil {
		return p, published, role, nil
	}
	s.Log.Warn("request refused: its account may not make it", "requester", cmp.Or(p.String(), nobody), "command", name, "message", no.Message)
	if s.Forbidden != nil {
		s.Forbidden(cmp.Or(string(p.Kind), nobody), name)
	}
	return p, published, role, no
}

func forbidden(allowed []string, format string, args ...any) *pb.Refusal {
	no := invalid(format, args...)
	no.Code, no.Allowed = string(instance.CodeForbidden), allowed
	return no
}

// attest returns the actor of a command of an attested party. A person is the operator
// of that name, whatever the command says, and by their own connection or the console's. Of people without a key a console states
// the right: they need it, and most has to have it, too. The gateway names people of the forge, and cannot name an operator.
func attest(p access.Party, most access.Kind, name, actor, right string) (string, *pb.Refusal) {
	switch {
	case p.Person():
		return access.Operator + p.Name, nil
	case p.Kind == access.Console:
		person, err := access.PersonOf(actor, right)
		if err != nil {
			return "", forbidden(nil, "%v", err)
		}
		switch {
		case !person.May(name):
			return "", forbidden(access.Who(name), "%s may not %s", person, name)
		case !(access.Party{Kind: most}).May(name):
			return "", forbidden(access.Who(name), "people of GitHub may not %s here: the orchestrator's --github-right is %s", name, cmp.Or(most, "none"))
		}
		return actor, nil
	case p.Kind == access.Gateway && strings.HasPrefix(actor, access.Operator):
		return "", forbidden(nil, "the gateway speaks for people of the forge, not for %s", actor)
	}
	return actor, nil
}

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
		return invalid("the actor %q is an agent's: agents ask under their role, as the developer under %s", cmd.Actor, must(subject.AgentsOf("developer")))
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
