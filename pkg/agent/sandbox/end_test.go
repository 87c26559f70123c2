package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

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
		// It waits by wait: dash loses a signal that arrives while it starts a program.
		c := sh(t, "trap 'echo cleaned; exit 9' INT; sleep 600 >/dev/null 2>&1 & echo begin; wait")
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
		_ = held.SetReadDeadline(time.Now().Add(time.Minute))
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
