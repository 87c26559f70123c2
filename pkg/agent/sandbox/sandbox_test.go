package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// each runs the test in every mode there is on this machine.
func each(t *testing.T, test func(t *testing.T, s sandbox.Sandbox)) {
	t.Run("none", func(t *testing.T) { test(t, sandbox.Sandbox{}) })
	t.Run("bwrap", func(t *testing.T) { test(t, bwrap(t)) })
}

func bwrap(t *testing.T) sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.New(t.Context(), sandbox.Auto)
	if err != nil {
		t.Fatal(err)
	}
	if s.Mode() != sandbox.Bwrap {
		t.Skip("no bubblewrap: ", s.Describe())
	}
	return s
}

func sh(t *testing.T, script string) sandbox.Command {
	return sandbox.Command{Argv: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: sandbox.Environ(), Grace: 20 * time.Millisecond}
}

func run(t *testing.T, s sandbox.Sandbox, c sandbox.Command) sandbox.Result {
	t.Helper()
	r, err := s.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestModes(t *testing.T) {
	if s, err := sandbox.New(t.Context(), sandbox.None); err != nil || s.Mode() != sandbox.None || s.Describe() != "none" {
		t.Errorf("none: %q, %v", s.Describe(), err)
	}
	if _, err := sandbox.New(t.Context(), "jail"); err == nil || !strings.Contains(err.Error(), "none, bwrap or auto") {
		t.Errorf("unknown mode: %v", err)
	}
	t.Run("without bubblewrap auto says so and bwrap is refused", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		s, err := sandbox.New(t.Context(), sandbox.Auto)
		if err != nil || s.Describe() != "none (bubblewrap is not installed)" {
			t.Errorf("auto: %q, %v", s.Describe(), err)
		}
		if _, err := sandbox.New(t.Context(), sandbox.Bwrap); err == nil {
			t.Error("bwrap was given")
		}
	})
	t.Run("a bubblewrap that may not work is told with what it says", func(t *testing.T) {
		dir := t.TempDir()
		fake := "#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n"
		if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte(fake), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		s, err := sandbox.New(t.Context(), sandbox.Auto)
		if err != nil || s.Mode() != sandbox.None || !strings.Contains(s.Describe(), "No permissions to create new namespace") {
			t.Errorf("auto: %q, %v", s.Describe(), err)
		}
	})
}
