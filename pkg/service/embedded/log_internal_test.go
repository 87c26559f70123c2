package embedded

import (
	"bytes"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/base/pacing"
)

func TestRefusedLoginsDoNotFillTheLog(t *testing.T) {
	var out bytes.Buffer
	counted := map[string]int{}
	l := logger{slog.New(slog.NewTextHandler(&out, nil)), newStop(), func(why string) { counted[why]++ }, new(pacing.Seldom[string])}
	for n := range 10_000 {
		l.Errorf("127.0.0.1:%d - cid:%d - authentication error - User %q", n, n, strings.Repeat("a", 4000))
		l.Errorf("127.0.0.1:%d - cid:%d - Client parser ERROR, state=%d, proto=%q", n, n, n%50, strings.Repeat("z", n%100))
	}
	if out.Len() > 2000 || !strings.Contains(out.String(), "authentication error") || !strings.Contains(out.String(), "parser ERROR") {
		t.Errorf("%d bytes are logged: %.2000s", out.Len(), out.String())
	}
	if want := map[string]int{"authentication error": 10_000, "Client parser ERROR": 10_000}; !maps.Equal(counted, want) {
		t.Errorf("%v are counted, want %v", counted, want)
	}
	out.Reset()
	for range 3 {
		l.Errorf("JetStream failed to store a message: %v", "EOF")
	}
	if strings.Count(out.String(), "failed to store") != 3 {
		t.Errorf("of the server's own faults it logs %s", out.String())
	}
}
