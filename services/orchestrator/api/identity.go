package api

import (
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/access"
	"github.com/signalbox/signalbox/pkg/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// operator begins the actor of a person who uses the command line.
const operator = "operator:"

// requester returns the party that the server attests for a request, or a refusal of
// parties that may not make it. The party is zero for requests from the orchestrator's
// own account, and where the server has no accounts: these may make any. role is that of
// the subject, name the command or query.
func (s *Server) requester(header nats.Header, role, name string) (access.Party, *pb.Refusal) {
	attested := header[access.Header]
	if len(attested) == 0 {
		return access.Party{}, nil
	}
	p, _, err := access.Requester(attested[0])
	var no *pb.Refusal
	switch {
	case err != nil:
		no = forbidden(nil, "%v", err)
	case role != "" && (p.Kind != access.Agent || p.Name != role):
		no = forbidden([]string{role}, "%s gives a command of the role %s", p, role)
	case role == "" && !p.May(name):
		no = forbidden(access.Who(name), "%s may not %s", p, name)
	}
	if no == nil {
		return p, nil
	}
	s.Log.Warn("request refused: its account may not make it", "requester", p.String(), "command", name, "message", no.Message)
	if s.Forbidden != nil {
		s.Forbidden(string(p.Kind), name)
	}
	return p, no
}

func forbidden(allowed []string, format string, args ...any) *pb.Refusal {
	no := invalid(format, args...)
	no.Code, no.Allowed = string(instance.CodeForbidden), allowed
	return no
}

// attest returns the actor of a command of an attested party. A person is the operator
// of that name, whatever the command says. The gateway names people of the forge, and
// cannot name an operator.
func attest(p access.Party, actor string) (string, *pb.Refusal) {
	switch {
	case p.Person():
		return operator + p.Name, nil
	case p.Kind == access.Gateway && strings.HasPrefix(actor, operator):
		return "", forbidden(nil, "the gateway speaks for people of the forge, not for %s", actor)
	}
	return actor, nil
}
