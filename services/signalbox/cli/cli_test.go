package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/signalbox/signalbox/pkg/agent/brain/mcp/mcptest"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func TestMain(m *testing.M) {
	mcptest.Intercept()
	confine.Intercept()
	if path, err := os.Executable(); err == nil {
		os.Setenv(confine.Variable, path) // the sandbox serves the machine's build cache by it
	}
	testscript.Main(m, map[string]func(){
		"signalbox": func() {
			code := Run(context.Background(), term.System(), os.Args[1:])
			if file := os.Getenv(statusFile); file != "" {
				status, _ := os.ReadFile("/proc/self/status")
				_ = os.WriteFile(file, status, 0o600)
			}
			os.Exit(code)
		},
	})
}

// statusFile is the variable with the file to which a program writes the kernel's view of it when it ends.
const statusFile = "SIGNALBOX_TEST_STATUS"

func TestWithoutARunningSystem(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/offline",
		Setup: func(e *testscript.Env) error {
			e.Setenv("SIGNALBOX_LISTEN", "127.0.0.1:0") // the usual port may be another's
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"ends": ends},
	})
}

// ends CODE PROGRAM ARG… runs a program that has to end with the code.
func ends(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: ends CODE PROGRAM ARG…")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if want := args[0]; strconv.Itoa(code) != want {
		ts.Fatalf("%v ended with %d, want %s", args[1:], code, want)
	}
}
