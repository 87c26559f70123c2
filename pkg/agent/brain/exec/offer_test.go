package exec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
	"github.com/signalbox/signalbox/pkg/agent/brain/mcp/mcptest"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/base/secret"
)

// clientWord is the first argument of a process that is to be a program with MCP servers.
const clientWord = "mcp-client-of-a-test"

// interceptClient makes a process a program that prints the tools of its servers, calls the
// tool that its second argument names, and tries the server without a token.
func interceptClient() {
	if len(os.Args) < 3 || os.Args[1] != clientWord {
		return
	}
	if err := client(os.Args[2]); err != nil {
		fmt.Println("failed:", err)
	}
	os.Exit(0)
}

type bearer struct{ value string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", b.value)
	return http.DefaultTransport.RoundTrip(r)
}

func client(tool string) error {
	text, err := os.ReadFile(os.Getenv("SIGNALBOX_MCP"))
	if err != nil {
		return err
	}
	var file struct {
		Servers map[string]struct {
			URL     string
			Headers map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return err
	}
	fmt.Println(strings.Join(os.Environ(), "\n"))
	at := file.Servers["docs"]
	ctx := context.Background()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "program"}, nil).Connect(ctx,
		&sdk.StreamableClientTransport{Endpoint: at.URL, HTTPClient: &http.Client{Transport: bearer{at.Headers["Authorization"]}}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		fmt.Println("tool", t.Name)
	}
	r, err := session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: map[string]any{"text": "hello"}})
	if err != nil {
		return err
	}
	fmt.Println("answer", r.IsError, r.Content[0].(*sdk.TextContent).Text)
	answer, err := http.Get(at.URL)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	fmt.Println("without a token", answer.Status)
	return nil
}

// docs is a server that has two tools, with more keys.
func docs(t *testing.T, more string) mcp.Servers {
	t.Helper()
	command, err := json.Marshal(mcptest.Command(t, "good"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.Parse("f", fmt.Appendf(nil, "servers:\n  docs:\n    command: %s\n    tools: [echo, die]\n%s", command, more))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asClient is a program that calls a tool.
func asClient(t *testing.T, tool string) exec.Config {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Config{Program: exec.Program{Name: "client", Argv: []string{exe, clientWord, tool}}, Readable: []string{exe}}
}

func TestAProgramCallsTheToolsOfServersThroughTheAgent(t *testing.T) {
	t.Setenv("DOCS_KEY", "key-of-the-server")
	for _, mode := range []sandbox.Mode{sandbox.None, sandbox.Bwrap, sandbox.Landlock} {
		t.Run(string(mode), func(t *testing.T) {
			box, err := sandbox.New(t.Context(), mode)
			if errors.Is(err, sandbox.ErrUnconfined) {
				t.Skip("not on this machine: ", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			cfg := asClient(t, "echo")
			cfg.Sandbox, cfg.Servers = box, docs(t, "    env: [DOCS_KEY]\n")
			out, err := work(t, cfg, assignment(t))
			if err != nil {
				t.Fatal(err)
			}
			said := string(out.Output)
			for _, want := range []string{"tool die\ntool echo\nanswer false <<<quoted", "[MCP server docs]\nhello\n", "without a token 401",
				"MCP server docs: 2 tools\n> mcp__docs__echo {\"text\":\"hello\"}: "} {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q:\n%s", want, said)
				}
			}
			if strings.Contains(said, "key-of-the-server") {
				t.Errorf("it is given the server's key:\n%s", said)
			}
		})
	}
}

func TestARequiredServerThatDiesIsAFaultOfTheProgramsStep(t *testing.T) {
	for more, want := range map[string]bool{"": false, "    required: true\n": true} {
		cfg := asClient(t, "die")
		cfg.Servers = docs(t, more)
		out, err := work(t, cfg, assignment(t))
		if errors.Is(err, brain.ErrInfrastructure) != want || !strings.Contains(string(out.Output), "> mcp__docs__die") ||
			!strings.Contains(string(out.Output), "out of memory") {
			t.Errorf("%q: %v\n%s", more, err, out.Output)
		}
	}
	cfg := asClient(t, "echo")
	var err error
	if cfg.Servers, err = mcp.Parse("f", []byte("servers: {docs: {command: [no-such-server], required: true}}")); err != nil {
		t.Fatal(err)
	}
	if out, err := work(t, cfg, assignment(t)); !errors.Is(err, brain.ErrInfrastructure) || strings.Contains(string(out.Output), "failed") {
		t.Errorf("one that is not there: %v", err)
	}
}

func TestACodingAgentIsToldOfServersAsItsPresetSays(t *testing.T) {
	for name, c := range map[string]struct{ print, want string }{
		"claude":   {`cat "$SIGNALBOX_MCP"`, `--strict-mcp-config * --mcp-config /*/mcp.json --allowedTools mcp__docs` + "\n" + `{"mcpServers":{"docs":{"headers":{"Authorization":"Bearer *"},"type":"http","url":"http://127.0.0.1:*/docs"}}}`},
		"codex":    {`[ -n "$SIGNALBOX_MCP_TOKEN" ] && echo token`, `mcp_servers.docs.url="http://127.0.0.1:*/docs" --config mcp_servers.docs.bearer_token_env_var="SIGNALBOX_MCP_TOKEN" *` + "\ntoken"},
		"gemini":   {`cat "$GEMINI_CLI_SYSTEM_SETTINGS_PATH"`, `{"mcpServers":{"docs":{"headers":{"Authorization":"Bearer *"},"httpUrl":"http://127.0.0.1:*/docs","trust":true}}}`},
		"opencode": {`cat "$OPENCODE_CONFIG"`, `{"mcp":{"docs":{"enabled":true,"headers":{"Authorization":"Bearer *"},"type":"remote","url":"http://127.0.0.1:*/docs"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			script := "#!/bin/sh\ncat >/dev/null\n[ \"$1\" = --version ] && exit\necho \"args $*\"\ncase \"$*\" in *\"$SIGNALBOX_MCP_TOKEN\"*) echo TOKEN IN ARGS;; esac\n" + c.print + "\n"
			if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			cfg := program(t, name)
			cfg.Servers = docs(t, "")
			scanner, err := secret.New()
			if err != nil {
				t.Fatal(err)
			}
			issued := &secret.Issued{}
			cfg.Issued = issued.Add
			out, _ := work(t, cfg, assignment(t)) // it is no real one: what it comes to is another matter
			said := string(out.Output)
			rest := said
			for _, part := range strings.Split(c.want, "*") {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Fatalf("it is not told %q of %q:\n%s", part, c.want, said)
				}
				rest = after
			}
			if clean := scanner.WithIssued(issued).Redact(said); strings.Contains(said, "Bearer ") && !strings.Contains(clean, "Bearer [redacted: own-credential]") {
				t.Errorf("the token is recorded:\n%s", clean)
			}
			if strings.Contains(said, "TOKEN IN ARGS") {
				t.Errorf("others see the token:\n%s", said)
			}
		})
	}
}

func TestAPresetSaysHowItIsToldOfServersOrIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"mcp: {args: ['{{token}}']}":  "mine.yaml:4: mcp: args: {{token}}: want {{mcp}}",
		"mcp: {args: ['{{url}}']}":    "mine.yaml:4: mcp: args: {{url}}: want {{mcp}}",
		"mcp: {each: ['{{prompt}}']}": "mine.yaml:4: mcp: each: {{prompt}}: want {{mcp}}",
		"mcp: {under: x}":             "mine.yaml:4: mcp: want under and entry together",
		"mcp: {arg: [x]}":             `mine.yaml:4: unknown field "arg"`,
	} {
		_, err := exec.ReadPresets(presets(t, map[string]string{"mine.yaml": "preset: mine\ncommand: [mine]\nanswer: text\n" + text + "\n"}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, name := range (exec.Presets{}).Names() {
		p, err := (exec.Presets{}).Parse(name)
		if can := name != "aider" && name != "goose"; err != nil || p.CanBeGivenServers() != can {
			t.Errorf("%s can be given servers: %t, %v", name, !can, err)
		}
	}
}
