package instance

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// authorize refuses an actor that the definition does not let do what. An agent acts as its
// role, "cto/agent-1", and may do what lists its role. Every other actor is a person, and
// may do what is not listed at all, too.
func (d *decision) authorize(what string) error {
	roles, listed := d.def.May[what]
	if !listed {
		roles = []string{workflow.Human}
	}
	if slices.Contains(roles, d.actorRole()) {
		return nil
	}
	return d.refuse(CodeForbidden, roles, "%s may not %s in %s", d.actorRole(), what, d.def.Name)
}

// actorRole returns the role of the agent that sent the command, or workflow.Human.
func (d *decision) actorRole() string { return roleOf(d.cmd.Actor) }

// roleOf returns the role of an actor, "cto" of "cto/agent-1", or workflow.Human.
func roleOf(actor string) string {
	if role, agent := AgentRole(actor); agent {
		return role
	}
	return workflow.Human
}

// AgentRole returns the role of an actor, "cto" of "cto/agent-1". agent is false of every
// other actor: those are people.
func AgentRole(actor string) (role string, agent bool) {
	role, _, agent = strings.Cut(actor, "/")
	return role, agent && !strings.Contains(role, ":")
}
