package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
	"github.com/signalbox/signalbox/pkg/agent/brain/mcp/mcptest"
)

func TestTheDoctorSaysWhichToolsOfServersARoleGets(t *testing.T) {
	good, err := json.Marshal(mcptest.Command(t, "good"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file string
		want map[string]string
	}{
		"a server that works": {"servers:\n  docs: {command: GOOD, tools: [echo, fetch], roles: [tester]}\n",
			map[string]string{"mcp server docs": "ok for tester: mcp__docs__echo, mcp__docs__fetch"}},
		"a tool that is not there": {"servers:\n  docs: {command: GOOD, tools: [echo, find]}\n",
			map[string]string{"mcp server docs": "warn for all roles that work on code: mcp__docs__echo"}},
		"a server that is not there": {"servers:\n  docs: {command: [no-such-server]}\n",
			map[string]string{"mcp server docs": "fail MCP server docs: the work goes on without it: exec: \"no-such-server\""}},
		"a required one that is not there": {"servers:\n  docs: {command: [no-such-server], required: true}\n",
			map[string]string{"mcp server docs": "fail infrastructure fault: MCP server docs, which is required: exec: \"no-such-server\""}},
		"a required one without a tool": {"servers:\n  docs: {command: GOOD, tools: [echo, ecko], required: true}\n",
			map[string]string{"mcp server docs": "fail for all roles that work on code: mcp__docs__echo"}},
		"a variable that is not set": {"servers:\n  docs: {command: GOOD, tools: [echo], env: [SIGNALBOX_NO_SUCH]}\n",
			map[string]string{"mcp server docs": "warn for all roles that work on code: mcp__docs__echo"}},
		"a role that is not there": {"servers:\n  docs: {command: GOOD, roles: [tster]}\n",
			map[string]string{"mcp servers": "fail FILE:2: server docs: there is no role \"tster\" here; did you mean \"tester\"?"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "servers.yaml")
			if err := os.WriteFile(path, []byte(strings.ReplaceAll(c.file, "GOOD", string(good))), 0o600); err != nil {
				t.Fatal(err)
			}
			for check, text := range c.want {
				c.want[check] = strings.ReplaceAll(text, "FILE", path)
			}
			expect(t, examined(t, doctorCommand{machineFlags: machineFlags{Servers: path}}), c.want)
		})
	}
}

func TestAVariableOfAServerThatIsNotSetIsNamed(t *testing.T) {
	t.Setenv("SIGNALBOX_IS_SET", "")
	got := unset(mcp.Server{Env: []string{"SIGNALBOX_IS_SET", "SIGNALBOX_NO_SUCH"}})
	if len(got) != 1 || got[0] != "env: SIGNALBOX_NO_SUCH is not set here" {
		t.Errorf("it says %q", got)
	}
}
