package mcp_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
	"github.com/signalbox/signalbox/pkg/agent/brain/mcp/mcptest"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
)

func TestMain(m *testing.M) {
	mcptest.Intercept()
	confine.Intercept()
	if exe, err := os.Executable(); err == nil {
		os.Setenv(confine.Variable, exe)
	}
	goleak.VerifyTestMain(m)
}

// one returns the servers of a file with one server, with more keys.
func one(t *testing.T, keys map[string]any) mcp.Servers {
	t.Helper()
	text, err := yaml.Marshal(map[string]any{"servers": map[string]any{"docs": keys}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.Parse("servers.yaml", text)
	if err == nil {
		s, err = s.Ready()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// program is a server that is a program of a kind, with more keys.
func program(t *testing.T, kind string, more map[string]any) mcp.Servers {
	t.Helper()
	keys := map[string]any{"command": mcptest.Command(t, kind)}
	for key, value := range more {
		keys[key] = value
	}
	return one(t, keys)
}

func open(t *testing.T, s mcp.Servers, p mcp.Place) *mcp.Session {
	t.Helper()
	session, err := s.Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session
}

func call(t *testing.T, s *mcp.Session, tool, text string) (string, error) {
	t.Helper()
	args, err := json.Marshal(map[string]any{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	return s.Call(t.Context(), "mcp__docs__"+tool, args)
}

// done calls a tool that works.
func done(t *testing.T, s *mcp.Session, tool, text string) string {
	t.Helper()
	said, err := call(t, s, tool, text)
	if err != nil {
		t.Fatal(err, s.Said)
	}
	return said
}

// names lists the tools of a session without the server's prefix.
func names(s *mcp.Session) (all []string) {
	for _, tool := range s.Tools {
		all = append(all, strings.TrimPrefix(tool.Name, "mcp__docs__"))
	}
	slices.Sort(all)
	return all
}

func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(text, w) {
			t.Errorf("it does not say %q:\n%s", w, text)
		}
	}
}

// boxes runs a test in each sandbox that confines here.
func boxes(t *testing.T, test func(t *testing.T, box sandbox.Sandbox)) {
	for _, mode := range []sandbox.Mode{sandbox.Bwrap, sandbox.Landlock} {
		t.Run(string(mode), func(t *testing.T) {
			box, err := sandbox.New(t.Context(), mode)
			if errors.Is(err, sandbox.ErrUnconfined) {
				t.Skip("not on this machine: ", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			test(t, box)
		})
	}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
