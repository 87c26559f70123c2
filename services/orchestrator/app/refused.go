package app

import (
	"log/slog"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// logRefused warns of each fact in a commit that its giver may not give.
func logRefused(log *slog.Logger, id string, c instance.Commit) {
	for _, e := range c.Events {
		if e, ok := e.(instance.StatementRefused); ok {
			log.Warn("a fact is set aside: its giver may not give it", "instance", id, "role", e.Role, "agent", e.Agent,
				"kind", e.What, "name", e.Name, "said", e.Said, "permitted", strings.Join(e.Permitted, ", "))
		}
	}
}
