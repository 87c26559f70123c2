package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/signalbox/signalbox/pkg/service"
)

// The test binary is also a service, for the tests that need a process.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_AS_SERVICE") == "" {
		os.Exit(m.Run())
	}
	p := &program{setup: func(_ context.Context, h *service.Host) error {
		h.Add("work", func(ctx context.Context) error {
			<-ctx.Done()
			if os.Getenv("TEST_AS_SERVICE") == "stuck" {
				select {}
			}
			h.Log.Info("work put away")
			return nil
		})
		return nil
	}}
	os.Exit(service.Run(context.Background(), service.Main{Name: "worker", About: "Works.", Program: p}))
}

// process starts the test binary as a service and returns its log as it comes.
func process(t *testing.T, kind string) (*exec.Cmd, func() string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--nats", start(t).ClientURL(), "--log-format", "json")
	cmd.Env = append(os.Environ(), "TEST_AS_SERVICE="+kind)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(stderr)
	return cmd, func() string {
		var line struct{ Msg string }
		if err := lines.Decode(&line); err != nil {
			return "" // the log's end
		}
		return line.Msg
	}
}

func signalled(t *testing.T, cmd *exec.Cmd, signal os.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

func TestASignalledProcessDrainsAndExitsWithZero(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			cmd, next := process(t, "willing")
			var said []string
			for msg := next(); msg != ""; msg = next() {
				said = append(said, msg)
				if msg == "running" {
					signalled(t, cmd, signal)
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			if !slices.Contains(said, "draining") || !slices.Contains(said, "work put away") {
				t.Errorf("it said %q", said)
			}
		})
	}
}

func TestASecondSignalEndsTheProcessAtOnce(t *testing.T) {
	cmd, next := process(t, "stuck")
	for msg := next(); msg != ""; msg = next() {
		if msg == "running" || msg == "draining" {
			signalled(t, cmd, syscall.SIGTERM)
		}
	}
	err := cmd.Wait()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Errorf("it was not ended by the signal: %v", err)
	}
}
