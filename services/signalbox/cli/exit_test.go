package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/signalbox/signalbox/services/signalbox/command"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// ended runs a command line and returns its exit code and both outputs.
func ended(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	env := term.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, User: "operator:ann", Now: time.Now}
	return Run(t.Context(), env, args), out.String()
}

func TestEveryCommandEndsByTheTableOfExitCodes(t *testing.T) {
	t.Chdir(t.TempDir())
	exampleFiles(t)
	shown := examples()
	parser, err := kong.New(new(grammar), groups(), kong.Vars{"version": ""})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		path := command.Path(leaf)
		if path == "bench" || path == "eval" { // programs of their own
			continue
		}
		t.Run(path, func(t *testing.T) {
			if code, out := ended(t, append(strings.Fields(path), "--help")...); code != 0 {
				t.Errorf("help ends with %d: %s", code, out)
			}
			if code, out := ended(t, append(strings.Fields(path), "--nosuchflag")...); code != 2 {
				t.Errorf("a flag that is not there ends with %d: %s", code, out)
			}
			calls := slices.ContainsFunc(leaf.AllFlags(false), func(group []*kong.Flag) bool {
				return slices.ContainsFunc(group, func(f *kong.Flag) bool { return f.Name == "timeout" })
			})
			if !calls || path == "mcp" { // mcp serves before there is a system
				return
			}
			for _, line := range shown[path] {
				optional := map[string]string{"prompt show": "--instance", "definition ls": "--running", "definition show": "--running", "whatif": "--policy"}[path]
				if strings.Contains(line, "--data") || strings.Contains(line, "backup") || !strings.Contains(line, optional) {
					continue // they need no system
				}
				code, out := ended(t, append(words(line), "--nats=nats://127.0.0.1:1", "--timeout=20ms")...)
				if code != 1 || !strings.Contains(out, "nobody answers at nats://127.0.0.1:1") {
					t.Errorf("without a system %q ends with %d: %s", line, code, out)
				}
			}
		})
	}
}
