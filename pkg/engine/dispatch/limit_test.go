package dispatch_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/dispatch"
)

func TestLimitsAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]string{
		"3":                                  "at most 3 at a time",
		"repo=acme/widgets:3":                "at most 3 at a time of acme/widgets",
		"state=implementing:2":               "at most 2 at a time in implementing",
		"role=developer,repo=acme/*:12":      "at most 12 at a time by developer of acme/*",
		"repo=acme/widgets,state=s,role=r:1": "at most 1 at a time in s by r of acme/widgets",
	} {
		if l, err := dispatch.ParseLimit(text); err != nil || l.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, l, err, want)
		}
	}
	for _, wrong := range []string{"", ":", "0", "x", ":3", "repo=acme/widgets", "repo=acme:3", "repo=acme/a/b:3", "repo=acme/[:3", "state=:3",
		"stat=x:3", "state=a,state=b:3", "state=a:0", "state=a:-1", "state=a,:3"} {
		if l, err := dispatch.ParseLimit(wrong); err == nil || !strings.Contains(err.Error(), "want repo=OWNER/NAME") {
			t.Errorf("%q is %v, %v", wrong, l, err)
		}
	}
}
