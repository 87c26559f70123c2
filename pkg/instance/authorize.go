package instance

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// authorize refuses an actor that the definition does not let do what. An agent
// acts as its role, "cto/agent-1"; every other actor is a person.
func (d *decision) authorize(what string) error {
	roles, listed := d.def.May[what]
	if !listed || slices.Contains(roles, d.actorRole()) {
		return nil
	}
	return d.refuse(CodeForbidden, roles, "%s may not %s in %s", d.actorRole(), what, d.def.Name)
}

// actorRole returns the role of the agent that sent the command, or workflow.Human.
func (d *decision) actorRole() string {
	role, _, agent := strings.Cut(d.cmd.Actor, "/")
	if !agent || strings.Contains(role, ":") {
		return workflow.Human
	}
	return role
}
