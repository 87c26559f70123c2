package crashtest

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/wire"
)

func TestTheLastOperationIsAnswered(t *testing.T) {
	answer := wire.BatchReply(wire.Answer{Reply: []byte("reply")})
	for name, c := range map[string]struct {
		awaited, subject string
		payload          []byte
		is               bool
	}{
		"by what comes there":             {"inbox.1", "inbox.1", answer, true},
		"by nothing that comes elsewhere": {"inbox.1", "inbox.10", answer, false},
		"by nothing before there is one":  {"", "inbox.1", answer, false},
		"by no line that has no subject":  {"", "", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := &natsConn{awaitedReply: c.awaited}
			if got := w.isAwaitedReply(natsOp{verb: "MSG", subject: c.subject, payload: append(c.payload, "\r\n"...)}); got != c.is {
				t.Errorf("got %v, want %v", got, c.is)
			}
		})
	}
}
