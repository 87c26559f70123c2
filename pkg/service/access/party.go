// Package access says which party of a system may request what, and writes the NATS
// accounts that make the server enforce it.
//
// Each party has an account of its own. The orchestrator's account owns JetStream and
// exports its services. The account of another party imports those that Imports lists. It
// has no other way to the log. The import of an account maps its requests to subjects with
// the account's name, so Entry.Requester is what the server attests, not what a message says.
// No header is read for it: nats-server and its clients parse headers differently. Permissions
// within one account would not be enough: the server does not check the reply subject of a
// request. So a party could have the server itself write to the log.
package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// Kind is a kind of party. Imports and May have the table of its permissions.
type Kind string

const (
	Orchestrator Kind = "orchestrator" // owns the log; runs in the account System
	PlanManager  Kind = "plan-manager" // answers queries in addition to the orchestrator; in the account System
	Agent        Kind = "agent"        // the agents of one role
	Gateway      Kind = "gateway"      // opens instances and sends signals for people on a forge
	Notify       Kind = "notify"       // reads the commits that people are notified of
	Console      Kind = "console"      // gives the commands of people who are signed in, and names them
	View         Kind = "view"         // a person who reads
	Act          Kind = "act"          // a person who also gives the commands of people
	Admin        Kind = "admin"        // a person who also overrides, migrates and reads the log itself
)

// System is the account that owns the log.
const System = "signalbox"

// Party is one requester: a service, the agents of a role, or a person.
type Party struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name,omitempty"` // the role of agents, the person's name; else empty
}

// ErrParty is returned for a party that there cannot be.
var ErrParty = errors.New("not a party")

// Check returns ErrParty unless the party has a name exactly if its kind needs one.
func (p Party) Check() error {
	switch p.Kind {
	case Orchestrator, PlanManager, Gateway, Notify, Console:
		if p.Name != "" {
			return fmt.Errorf("%w: %s has no name", ErrParty, p.Kind)
		}
		return nil
	case Agent, View, Act, Admin:
		if err := subject.CheckName(p.Name); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrParty, p.Kind, err)
		}
		return nil
	}
	return fmt.Errorf("%w: %q: want one of %s", ErrParty, p.Kind, kinds)
}

const kinds = "orchestrator, plan-manager, agent, gateway, notify, console, view, act, admin"

// Person reports whether the party is a person.
func (p Party) Person() bool { return p.Kind == View || p.Kind == Act || p.Kind == Admin }

// Account returns the name of the party's account.
func (p Party) Account() string {
	switch {
	case p.Kind == Orchestrator || p.Kind == PlanManager:
		return System
	case p.Name == "":
		return string(p.Kind)
	}
	return string(p.Kind) + "-" + p.Name
}

// String returns a name that is unique among parties: kind, or kind-name.
func (p Party) String() string {
	if p.Name == "" {
		return string(p.Kind)
	}
	return string(p.Kind) + "-" + p.Name
}

// ParseParty is the inverse of String, and of Account but for System.
func ParseParty(s string) (Party, error) {
	p := Party{Kind: Kind(s)}
	if slices.Contains([]Kind{Orchestrator, PlanManager, Gateway, Notify, Console}, p.Kind) {
		return p, nil
	}
	kind, name, _ := strings.Cut(s, "-")
	p = Party{Kind(kind), name}
	return p, p.Check()
}

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
