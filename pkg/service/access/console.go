package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// Operator begins the actor of a person with rights of this system, GitHub ends that of one who signed in to a
// console by GitHub. No key has a name with the end.
const (
	Operator = "operator:"
	GitHub   = "@github"
)

// PersonOf returns the person without a key in whose name a console asks: the actor, as the log has it, with the rights of a
// kind of person. The error is ErrParty for any other actor: an agent, the orchestrator, a login of the forge, or a person with
// a key, as whom the console asks by their account.
func PersonOf(actor, right string) (Party, error) {
	p := Party{Kind: Kind(right)}
	name, ok := strings.CutPrefix(actor, Operator)
	login, hub := strings.CutSuffix(name, GitHub)
	if !ok || !hub || subject.CheckName(login) != nil {
		return Party{}, fmt.Errorf("%w: a console asks for %sLOGIN%s, not for %.100q", ErrParty, Operator, GitHub, actor)
	}
	if !p.Person() {
		return Party{}, fmt.Errorf("%w: a person may view, act or admin, not %.20q", ErrParty, right)
	}
	p.Name = name
	return p, nil
}

// mayForPeople reports whether some person may give a command.
func mayForPeople(command string) bool {
	return slices.ContainsFunc([]Kind{View, Act, Admin}, func(k Kind) bool { return Party{Kind: k}.May(command) })
}

// signIn is where a person asks the console for a link that signs in as them. The account of the person is in the
// subject that it arrives on.
func (p Party) signIn() Import {
	i := p.request(subject.SignIn)
	i.From = string(Console)
	return i
}
