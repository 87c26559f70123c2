package access

import (
	"log/slog"
	"strings"

	"github.com/nats-io/nats.go/micro"
)

// Reserved reports whether a subject belongs to NATS itself, as that of an acknowledgement
// does. The server leaves such a reply subject of a request as it is when the request crosses
// accounts. A reply on it would acknowledge work of another party.
func Reserved(reply string) bool { return strings.HasPrefix(reply, "$") }

// Guard returns a handler that drops requests whose reply subject is Reserved, and logs each.
// Every service that replies to requests of other accounts has it.
func Guard(log *slog.Logger, handle micro.HandlerFunc) micro.HandlerFunc {
	return func(m micro.Request) {
		if Reserved(m.Reply()) {
			log.Warn("request refused: it wants the reply on a subject of the server", "subject", m.Subject(), "reply", m.Reply())
			return
		}
		handle(m)
	}
}
