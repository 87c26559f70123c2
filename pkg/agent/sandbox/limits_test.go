package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

func TestLimitsOfTime(t *testing.T) {
	each(t, func(t *testing.T, s sandbox.Sandbox) {
		t.Run("silence ends at the idle limit", func(t *testing.T) {
			c := sh(t, "echo begin; sleep 600")
			c.Idle = 100 * time.Millisecond
			r := run(t, s, c)
			if r.TimedOut != sandbox.Idle || r.OK() || !strings.Contains(r.String(), "printing nothing for 100ms") {
				t.Errorf("got %q", r)
			}
		})
		t.Run("chatter ends at the wall limit", func(t *testing.T) {
			c := sh(t, "while :; do echo tick; sleep 0.01; done")
			c.Idle, c.Wall = time.Minute, 200*time.Millisecond
			r := run(t, s, c)
			if r.TimedOut != sandbox.Wall || !strings.Contains(r.String(), "stopped after 200ms") {
				t.Errorf("got %q", r)
			}
		})
	})
}

func TestResourceLimitsHold(t *testing.T) {
	each(t, func(t *testing.T, s sandbox.Sandbox) {
		c := sh(t, "head -c 2000000 /dev/zero > big; ulimit -n; stat -c %s big")
		c.Limits = sandbox.Limits{FileSize: 1 << 20, CPU: 30 * time.Second, Files: 64}
		r := run(t, s, c)
		if !strings.HasSuffix(string(r.Output), "64\n1048576\n") {
			t.Errorf("output %q", r.Output)
		}
	})
}
