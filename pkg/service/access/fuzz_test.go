package access_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/service/access"
)

// FuzzRequester holds that the subject of a request is read or refused, that a party that was
// read is the one whose account is in it, and that a name of a party is written as it was.
func FuzzRequester(f *testing.F) {
	f.Add("sb.in.agent-developer.api.agent.developer.report")
	f.Add("agent-developer")
	f.Add("gateway")
	f.Fuzz(func(t *testing.T, text string) {
		if p, published, err := (access.Entry{}).Requester(text); err == nil {
			account := p.Account()
			if p.Kind == access.Orchestrator {
				account = access.System
			}
			if text != "sb.in."+account+strings.TrimPrefix(published, "sb") {
				t.Errorf("%q is of %s on %s", text, p, published)
			}
		}
		p, err := access.ParseParty(text)
		if err == nil && p.String() != text {
			t.Errorf("%q is read as %q", text, p)
		}
	})
}
