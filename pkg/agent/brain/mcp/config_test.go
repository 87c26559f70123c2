package mcp_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
)

const whole = `servers:
  tracker:
    url: https://tracker.example.com/mcp
    headers:
      Authorization: {env: TRACKER_TOKEN, prefix: "Bearer "}
    tools: [search, read]
    call: 20s
    output: 64KiB
  docs:
    command: [docs-server, --port, 3]
    env: [DOCS_KEY]
    read: [/usr/share/docs]
    hosts: [docs.example.com]
    roles: [developer, tester]
    start: 10s
    required: true
`

func TestTheServersOfARoleAreReadFromAFile(t *testing.T) {
	t.Setenv("TRACKER_TOKEN", "t0ken-of-the-tracker")
	s, err := mcp.Read(file(t, "servers.yaml", whole))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CheckRoles([]string{"analyst", "developer", "tester"}); err != nil {
		t.Error(err)
	}
	if got := s.For("analyst"); len(got) != 1 || got[0].Name != "tracker" {
		t.Errorf("the analyst gets %v", got)
	}
	got, err := s.For("developer").Ready()
	if err != nil || len(got) != 2 || got[0].Name != "docs" {
		t.Fatalf("the developer gets %v, %v", got, err)
	}
	if secrets := strings.Join(got.Secrets(), " "); secrets != "t0ken-of-the-tracker" {
		t.Errorf("secret is %q", secrets)
	}
	if want := "docs: docs-server --port 3; for developer, tester; reaches docs.example.com; required"; got[0].Describe() != want {
		t.Errorf("people are told %q", got[0].Describe())
	}
	err = s.CheckRoles([]string{"developer", "testers"})
	if err == nil || !strings.Contains(err.Error(), `servers.yaml:9: server docs: there is no role "tester" here; did you mean "testers"?`) {
		t.Errorf("a role that is not there is %v", err)
	}
	t.Setenv("TRACKER_TOKEN", "")
	if _, err := s.Ready(); err == nil || !strings.Contains(err.Error(), "server tracker: header Authorization: TRACKER_TOKEN is not set") {
		t.Errorf("without its variable it is %v", err)
	}
}

func TestAFileThatIsWrongIsRefusedWithItsLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":              {"", "f:1: it is empty"},
		"no YAML":            {"servers:\n  a: [", "f:"},
		"another key":        {"server:\n  a: {}\n", `f:1: unknown key "server"; did you mean "servers"?`},
		"a key of a server":  {"servers:\n  a:\n    comand: [x]\n", `f:3: unknown key "comand"; did you mean "command"?`},
		"a key of another":   {"servers:\n  a:\n    mcpServers: [x]\n", "want one of call, command, env"},
		"a name":             {"servers:\n  A__b:\n    command: [x]\n", "f:2: server \"A__b\": want a name"},
		"a server twice":     {"servers:\n  a: {command: [x]}\n  a: {command: [y]}\n", "f:3"},
		"nothing":            {"servers:\n  a: {tools: [x]}\n", "f:2: server a: want a command or a url"},
		"both":               {"servers:\n  a: {command: [x], url: \"https://x/\"}\n", "want one of them"},
		"headers of a list":  {"servers:\n  a: {command: [x], headers: {X-A: {env: B}}}\n", "headers are of a url"},
		"env of a url":       {"servers:\n  a: {url: \"https://x/\", env: [A]}\n", "env and read are of a command"},
		"a value":            {"servers:\n  a:\n    url: https://x/\n    headers:\n      X-A: secret\n", "f:5: header \"X-A\": want {env: NAME}"},
		"a variable's value": {"servers:\n  a: {command: [x], env: [A=b]}\n", "whose value is not written here"},
		"two sources":        {"servers:\n  a: {url: \"https://x/\", headers: {X-A: {env: B, file: /c}}}\n", "want env, the name of a variable, or file"},
		"a reserved header":  {"servers:\n  a: {url: \"https://x/\", headers: {Mcp-Session-Id: {env: B}}}\n", "that the protocol does not set"},
		"a password":         {"servers:\n  a: {url: \"https://u:p@x/\"}\n", "credentials in headers"},
		"another scheme":     {"servers:\n  a: {url: \"file:///x\"}\n", "want https://HOST/PATH"},
		"a program below":    {"servers:\n  a: {command: [./x]}\n", "f:2: server a: command: \"./x\": want a program in PATH or a path from the root"},
		"a path below":       {"servers:\n  a: {command: [x], read: [y]}\n", "want a path from the root"},
		"a host":             {"servers:\n  a: {command: [x], hosts: [\"https://y\"]}\n", "f:2: server a: hosts: egress"},
		"a time":             {"servers:\n  a:\n    command: [x]\n    call: soon\n", "f:4: want a time up to 1h"},
		"a long time":        {"servers:\n  a:\n    command: [x]\n    start: 2h\n", "f:4: want a time up to 1h"},
		"a size":             {"servers:\n  a:\n    command: [x]\n    output: 1GiB\n", "f:4: want a size from 1KiB to 256KiB"},
		"no list":            {"servers:\n  a: {command: x}\n", "f:2: want a list with something in it"},
		"an empty list":      {"servers:\n  a: {command: [x], tools: []}\n", "want a list with something in it"},
		"no flag":            {"servers:\n  a: {command: [x], required: 1}\n", "want true or false"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := mcp.Parse("f", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it is %v, want %s", err, c.want)
			}
		})
	}
}

func TestAHomeIsNotShownToAProgram(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, keys := range []string{"command: [x, " + home + "]", "command: [x]\n    read: [" + home + "]"} {
		s, err := mcp.Parse("f", []byte("servers:\n  a:\n    "+keys+"\n"))
		if err == nil {
			_, err = s.Ready()
		}
		if err == nil || !strings.Contains(err.Error(), "f:2: server a: "+home+" holds a home or credentials") {
			t.Errorf("%s: %v", keys, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("servers: {a: {url: \"http://[::1]:1/\"}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := mcp.Parse("f", text)
		if (err == nil) == (len(s) == 0) {
			t.Errorf("%d servers, %v", len(s), err)
		}
	})
}
