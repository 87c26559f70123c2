package sandbox_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

func TestExitCodeAndOutputAreTold(t *testing.T) {
	each(t, func(t *testing.T, s sandbox.Sandbox) {
		r := run(t, s, sh(t, "echo out; echo err >&2; exit 3"))
		if r.ExitCode != 3 || r.OK() || string(r.Output) != "out\nerr\n" || r.Mode != s.Mode() {
			t.Errorf("got %s, mode %s, output %q", r, r.Mode, r.Output)
		}
	})
}

func TestCommandRunsInItsDirectoryWithItsInput(t *testing.T) {
	each(t, func(t *testing.T, s sandbox.Sandbox) {
		c := sh(t, "pwd; cat; touch made")
		in := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(in, []byte("hello"), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c.Stdin = f
		r := run(t, s, c)
		if string(r.Output) != c.Dir+"\nhello" {
			t.Errorf("output %q", r.Output)
		}
		if _, err := os.Stat(filepath.Join(c.Dir, "made")); err != nil {
			t.Error(err)
		}
	})
}

func TestOnlyAllowedVariablesReachTheCommand(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "s3cret")
	t.Setenv("MY_TOOL_HOME", "/tool")
	each(t, func(t *testing.T, s sandbox.Sandbox) {
		c := sh(t, "env")
		c.Env = sandbox.Environ("MY_TOOL_*")
		r := run(t, s, c)
		if bytes.Contains(r.Output, []byte("s3cret")) || !bytes.Contains(r.Output, []byte("MY_TOOL_HOME=/tool")) {
			t.Errorf("environment:\n%s", r.Output)
		}
		c.Env = nil
		if r := run(t, s, c); bytes.Contains(r.Output, []byte("s3cret")) {
			t.Errorf("no environment asked for, got:\n%s", r.Output)
		}
	})
}

func TestSignalIsNamed(t *testing.T) {
	each(t, func(t *testing.T, s sandbox.Sandbox) {
		r := run(t, s, sh(t, "kill -SEGV $$"))
		if !strings.Contains(r.String(), "SIGSEGV") || r.OK() {
			t.Errorf("got %q", r)
		}
	})
}

func TestMissingProgramIsAnErrorOrExitCode127(t *testing.T) {
	_, err := sandbox.Sandbox{}.Run(t.Context(), sandbox.Command{Argv: []string{"no-such-program"}, Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("err %v", err)
	}
	if _, err := (sandbox.Sandbox{}).Run(t.Context(), sandbox.Command{}); err == nil {
		t.Error("ran without a command")
	}
}

func TestOutputIsCappedAndCounted(t *testing.T) {
	const size = 200 << 20
	c := sh(t, "echo first; yes $(printf %01023d 0) | head -c 209715200; echo last")
	c.MaxOutput = 1000
	var lines int
	c.Line = func(string) { lines++ }
	r := run(t, sandbox.Sandbox{}, c)
	if !r.OK() || r.Dropped != size+6+5-1000 || len(r.Output) > 1100 {
		t.Errorf("%q: %d bytes kept, %d dropped", r, len(r.Output), r.Dropped)
	}
	if !bytes.HasPrefix(r.Output, []byte("first\n")) || !bytes.HasSuffix(r.Output, []byte("last\n")) {
		t.Errorf("kept %q", r.Output)
	}
	if lines != size/1024+2 {
		t.Errorf("%d lines", lines)
	}
}

func TestStandardOutputCanBeHadAlone(t *testing.T) {
	var out bytes.Buffer
	c := sh(t, "echo out; echo err >&2")
	c.Stdout = &out
	r := run(t, sandbox.Sandbox{}, c)
	if out.String() != "out\n" || len(r.Output) != len("out\nerr\n") {
		t.Errorf("standard output %q, all %q", &out, r.Output)
	}
}
