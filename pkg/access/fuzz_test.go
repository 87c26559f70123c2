package access_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/access"
)

// FuzzRequester holds that what a server attests of a requester is read or refused, and
// that a party that was read is written as it was.
func FuzzRequester(f *testing.F) {
	f.Add(`{"acc":"agent-developer","user":"UA","host":"127.0.0.1"}`)
	f.Add("agent-developer")
	f.Add("gateway")
	f.Fuzz(func(t *testing.T, text string) {
		_, _, _ = access.Requester(text)
		p, err := access.ParseParty(text)
		if err == nil && p.String() != text {
			t.Errorf("%q is read as %q", text, p)
		}
	})
}
