package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

func TestEndOfContextEndsEvenAProgramThatIgnoresSignals(t *testing.T) {
	each(t, func(t *testing.T, s sandbox.Sandbox) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		why := errors.New("lease lapsed")
		c := sh(t, "trap '' INT TERM; echo deaf; while :; do sleep 600; done")
		c.Line = func(line string) { cancel(why) }
		r, err := s.Run(ctx, c)
		if !errors.Is(err, why) || r.Signal != "SIGKILL" || string(r.Output) != "deaf\n" {
			t.Errorf("err %v, result %q, output %q", err, r, r.Output)
		}
	})
}

func TestAProgramThatCleansUpOnINTIsGivenTheTime(t *testing.T) {
	each(t, func(t *testing.T, s sandbox.Sandbox) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := sh(t, "trap 'echo cleaned; exit 9' INT; echo begin; while :; do sleep 0.01; done")
		c.Line, c.Grace = func(string) { cancel() }, time.Minute
		r, err := s.Run(ctx, c)
		if !errors.Is(err, context.Canceled) || r.ExitCode != 9 || string(r.Output) != "begin\ncleaned\n" {
			t.Errorf("err %v, exit code %d, output %q", err, r.ExitCode, r.Output)
		}
	})
}

func TestEndedContextStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := sh(t, "touch started")
	if _, err := (sandbox.Sandbox{}).Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("err %v", err)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "started")); err == nil {
		t.Error("it ran")
	}
}

func TestWhatACommandLeavesBehindIsKilled(t *testing.T) {
	each(t, func(t *testing.T, s sandbox.Sandbox) {
		c := sh(t, "exec 3>held; sleep 600 & echo done")
		fifo := filepath.Join(c.Dir, "held")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		held, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
		if r := run(t, s, c); !r.OK() || string(r.Output) != "done\n" {
			t.Errorf("got %q, output %q", r, r.Output)
		}
		// The end of the file comes when nobody holds it any more.
		_ = held.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.ReadAll(held); err != nil {
			t.Errorf("a process is left: %v", err)
		}
	})
}

func TestAProcessThatLeftTheSessionCannotHoldTheRun(t *testing.T) {
	c := sh(t, "setsid sh -c 'echo $$ > pid; mv pid left; exec sleep 600' & while [ ! -e left ]; do sleep 0.01; done; echo done")
	r := run(t, sandbox.Sandbox{}, c)
	var pid int
	raw, err := os.ReadFile(filepath.Join(c.Dir, "left"))
	if err == nil {
		for _, d := range bytes.TrimSpace(raw) {
			pid = pid*10 + int(d-'0')
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if !r.OK() || string(r.Output) != "done\n" || pid == 0 {
		t.Errorf("got %q, output %q, pid %d", r, r.Output, pid)
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

func TestBwrapConfines(t *testing.T) {
	s := bwrap(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("nothing outside is seen", func(t *testing.T) {
		r := run(t, s, sh(t, "cat "+outside+"/f"))
		if r.OK() || bytes.Contains(r.Output, []byte("kept")) {
			t.Errorf("%q: %q", r, r.Output)
		}
	})
	t.Run("what is readable cannot be written", func(t *testing.T) {
		c := sh(t, "cat "+outside+"/f; echo spoilt > "+outside+"/f")
		c.Readable = []string{outside, "/no/such/path"}
		r := run(t, s, c)
		got, _ := os.ReadFile(filepath.Join(outside, "f"))
		if r.OK() || !bytes.HasPrefix(r.Output, []byte("kept")) || string(got) != "kept" {
			t.Errorf("%q: %q, file %q", r, r.Output, got)
		}
	})
	t.Run("what is writable can be written", func(t *testing.T) {
		c := sh(t, "echo new > "+outside+"/g")
		c.Writable = []string{outside}
		if r := run(t, s, c); !r.OK() {
			t.Errorf("%q: %q", r, r.Output)
		}
	})
	t.Run("the network is out of reach", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		c := sh(t, "exec 3<>/dev/tcp/127.0.0.1/"+port)
		c.Argv[0] = "bash"
		if r := run(t, s, c); r.OK() {
			t.Error("it connected")
		}
		c.Network = true
		if r := run(t, s, c); !r.OK() {
			t.Errorf("network allowed, but %q: %q", r, r.Output)
		}
	})
	t.Run("go test works from the caches", func(t *testing.T) {
		c := sh(t, "go test ./...")
		files := map[string]string{"go.mod": "module m\n\ngo 1.26\n", "m_test.go": "package m\nimport \"testing\"\nfunc TestM(t *testing.T) {}\n"}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if r := run(t, s, c); !r.OK() {
			t.Errorf("%q: %s", r, r.Output)
		}
	})
}
