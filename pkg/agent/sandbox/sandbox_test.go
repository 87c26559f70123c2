package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
)

func TestMain(m *testing.M) {
	confine.Intercept()
	if exe, err := os.Executable(); err == nil {
		os.Setenv(confine.Variable, exe)
	}
	goleak.VerifyTestMain(m)
}

// each runs the test in every mode there is on this machine.
func each(t *testing.T, test func(t *testing.T, s sandbox.Sandbox)) {
	t.Run("none", func(t *testing.T) { test(t, in(t, sandbox.None)) })
	confined(t, test)
}

// confined runs the test in every mode that confines commands.
func confined(t *testing.T, test func(t *testing.T, s sandbox.Sandbox)) {
	for _, mode := range []sandbox.Mode{sandbox.Bwrap, sandbox.Landlock} {
		t.Run(string(mode), func(t *testing.T) { test(t, in(t, mode)) })
	}
	t.Run("landlock without a network of its own", func(t *testing.T) { test(t, sandbox.SharingNetwork(in(t, sandbox.Landlock))) })
}

// in returns the sandbox of a mode, and skips the test where it does not work.
func in(t *testing.T, mode sandbox.Mode) sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.New(t.Context(), mode)
	if errors.Is(err, sandbox.ErrUnconfined) {
		t.Skip("not on this machine: ", err)
	}
	if err != nil {
		t.Fatal(err)
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
	if s, err := sandbox.New(t.Context(), sandbox.None); err != nil || s.Mode() != sandbox.None || s.Describe() != "none (not confined: everything)" {
		t.Errorf("none: %q, %v", s.Describe(), err)
	}
	if _, err := sandbox.New(t.Context(), "jail"); err == nil || !strings.Contains(err.Error(), "auto, bwrap, landlock or none") {
		t.Errorf("unknown mode: %v", err)
	}
	t.Run("without bubblewrap auto takes landlock and says so, and bwrap is refused", func(t *testing.T) {
		in(t, sandbox.Landlock)
		t.Setenv("PATH", "/usr/bin/no-such:/bin/no-such:"+truePath(t))
		s, err := sandbox.New(t.Context(), sandbox.Auto)
		if err != nil || s.Mode() != sandbox.Landlock || !strings.HasPrefix(s.Describe(), "landlock (bubblewrap is not installed; not confined: the list of processes") {
			t.Errorf("auto: %q, %v", s.Describe(), err)
		}
		if _, err := sandbox.New(t.Context(), sandbox.Bwrap); !errors.Is(err, sandbox.ErrUnconfined) {
			t.Errorf("bwrap was given: %v", err)
		}
	})
	t.Run("without either auto is refused, and says what to do", func(t *testing.T) {
		t.Setenv("PATH", truePath(t))
		t.Setenv(confine.Variable, "")
		_, err := sandbox.New(t.Context(), sandbox.Auto)
		if !errors.Is(err, sandbox.ErrUnconfined) || !strings.Contains(err.Error(), "install bubblewrap, or say --sandbox=none") {
			t.Errorf("auto: %v", err)
		}
	})
	t.Run("a bubblewrap that may not work is told with what it says", func(t *testing.T) {
		in(t, sandbox.Landlock)
		dir := t.TempDir()
		fake := "#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n"
		if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte(fake), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		s, err := sandbox.New(t.Context(), sandbox.Auto)
		if err != nil || s.Mode() != sandbox.Landlock || !strings.Contains(s.Describe(), "No permissions to create new namespace") {
			t.Errorf("auto: %q, %v", s.Describe(), err)
		}
	})
}

// truePath returns a PATH that has the program true alone.
func truePath(t *testing.T) string {
	path, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(path, filepath.Join(dir, "true")); err != nil {
		t.Fatal(err)
	}
	return dir
}
