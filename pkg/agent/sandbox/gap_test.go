package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// What a mode does not confine is one list: what is found out (TestNoEscapeSucceeds), what the log and the
// terminal say, and SECURITY.md.
func TestWhatAModeDoesNotConfineIsSaidEverywhere(t *testing.T) {
	text, err := os.ReadFile("../../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	written := strings.Join(strings.Fields(string(text)), " ")
	for _, gap := range sandbox.Gaps() {
		if !strings.Contains(written, gap) {
			t.Errorf("SECURITY.md does not say %q", gap)
		}
	}
	each(t, func(t *testing.T, s sandbox.Sandbox) {
		for _, gap := range s.Missing() {
			if !strings.Contains(s.Describe(), gap) {
				t.Errorf("%q does not say %q", s.Describe(), gap)
			}
		}
	})
	if s := in(t, sandbox.Bwrap); len(s.Missing()) > 0 {
		t.Errorf("bubblewrap does not confine %q", s.Missing())
	}
}

// Programs look up users, names and authorities in /etc, and start from /opt where PATH leads there.
func TestWhatProgramsNeedOfTheSystemIsThere(t *testing.T) {
	confined(t, func(t *testing.T, s sandbox.Sandbox) {
		r := run(t, s, sh(t, `id -un && getent hosts localhost && test -r /etc/ssl/certs && test -r /etc/ld.so.cache && ! ls /opt/*`))
		if !r.OK() {
			t.Errorf("%s: %s", r, r.Output)
		}
	})
}
