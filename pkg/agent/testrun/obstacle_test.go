package testrun_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestObstacleNamesWhatKeptTheTestsFromRunning(t *testing.T) {
	for name, c := range map[string]struct {
		ev   instance.Evidence
		says string // "" if they ran
	}{
		"they pass":           {instance.Evidence{OK: true}, ""},
		"they fail":           {instance.Evidence{ExitCode: 1, Failed: []string{"TestSum"}, Output: "sum_test.go:9: 5"}, ""},
		"they do not compile": {instance.Evidence{ExitCode: 1, Output: "sum.go:3:1: syntax error"}, ""},
		"some pass, though a host was not let through": {
			instance.Evidence{ExitCode: 1, Passed: 1, Output: "dial tcp: lookup example.com", Data: map[string]string{"refused": "example.com:443"}}, ""},
		"no program": {instance.Evidence{ExitCode: -1, Output: "could not run: cargo is not installed here"},
			"cargo is not installed here. Install it where the agents run"},
		"a script's program": {instance.Evidence{ExitCode: 127, Output: "could not run: a program is missing\nsh: 1: jest: not found"}, "a program is missing"},
		"a host was not let through": {
			instance.Evidence{ExitCode: 1, Output: "npm ERR!", Data: map[string]string{"refused": "a.example:443\nb.example:443"}},
			"the sandbox let nothing out to a.example:443, b.example:443. Fetch beforehand"},
		"no module":    {instance.Evidence{ExitCode: 1, Output: "go: x.example/y@v1.0.0: module lookup disabled by GOPROXY=off"}, "a dependency is missing: go: x.example/y"},
		"no package":   {instance.Evidence{ExitCode: 1, Output: "Error: Cannot find module 'chalk'\nRequire stack:"}, "a dependency is missing: Error: Cannot find module 'chalk'"},
		"its own file": {instance.Evidence{ExitCode: 1, Output: "Error: Cannot find module './sum'"}, ""},
		"a long socket": {instance.Evidence{ExitCode: 1, Output: "  File \"check.py\", line 3\nOSError: AF_UNIX path too long\n"},
			"the path of a Unix socket is longer than the 107 bytes that the system takes: OSError: AF_UNIX path too long. Keep work trees in"},
		"a long socket of Go": {instance.Evidence{ExitCode: 1, Failed: []string{"TestServe"}, Output: "serve_test.go:9: listen unix /home/x/a.sock: bind: invalid argument"},
			"the path of a Unix socket is longer"},
		"a limit ended": {instance.Evidence{ExitCode: -1, Output: "stopped after 10m0s (wall time limit)\n=== RUN"}, "stopped after 10m0s (wall time limit). Set another limit"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := testrun.Obstacle(c.ev); c.says == "" && got != "" || !strings.HasPrefix(got, c.says) {
				t.Errorf("got %q, want %q", got, c.says)
			}
		})
	}
}
