package app

import (
	"log/slog"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
)

// logRefused warns of everything in a commit that a person gave and may not give.
func logRefused(log *slog.Logger, id string, c instance.Commit) {
	for _, e := range c.Events {
		if e, ok := e.(instance.StatementRefused); ok {
			log.Warn("a person says what is not theirs to say; it is set aside", "instance", id, "role", e.Role, "agent", e.Agent,
				"kind", e.What, "name", e.Name, "said", e.Said, "permitted", strings.Join(e.Permitted, ", "))
		}
	}
}
