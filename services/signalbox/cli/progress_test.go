package cli

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

func TestProgressIsShownToAPersonAndRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		clock bool
		each  time.Duration // of 256 commits
		want  string
	}{
		"to a person":                        {true, 2 * time.Second, "\r  read 256 of 1000 commits\r  read 512 of 1000 commits\r\x1b[K"},
		"not if it takes less than a second": {true, time.Millisecond, ""},
		"not in a pipe":                      {false, 2 * time.Second, ""},
		"not more often than can be read":    {true, 600 * time.Millisecond, "\r  read 512 of 1000 commits\r\x1b[K"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				p := showProgress(&term.Env{Stderr: &out, Clock: c.clock, Now: time.Now}, "read", 1000)
				for seq := range uint64(600) {
					if seq > 0 && seq%256 == 0 {
						<-time.After(c.each)
					}
					if seq > 0 {
						p.at(seq)
					}
				}
				p.end()
				if got := out.String(); got != c.want {
					t.Errorf("%q, want %q", strings.ReplaceAll(got, "\x1b", "ESC"), c.want)
				}
			})
		})
	}
}
