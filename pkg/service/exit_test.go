package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/service"
)

func TestTheTableOfExitCodesIsWhatProgramsEndWith(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Exit codes\n")
	section, _, _ = strings.Cut(section, "\n## ")
	wrong := errors.New("it breaks")
	for code, err := range []error{nil, wrong, service.Usagef("use it well: %w", wrong), fmt.Errorf("not done: %w", &service.WaitError{Err: wrong})} {
		if got := service.ExitCode(err); got != code {
			t.Errorf("%v ends with %d, want %d", err, got, code)
		}
	}
	for code := range service.ExitCutOff + 1 { // healthchecks end with those above ExitWaits
		if !strings.Contains(section, fmt.Sprintf("\n| %d | ", code)) {
			t.Errorf("docs/operations.md has no exit code %d", code)
		}
	}
	if rows := strings.Count(section, "\n| ") - 1; rows != service.ExitCutOff+1 { // one is the head
		t.Errorf("docs/operations.md has %d exit codes", rows)
	}
}

func TestTheExitCodeSaysWhoseFaultItIs(t *testing.T) {
	server := start(t)
	fail := func(err error) func(context.Context, *service.Host) error {
		return func(_ context.Context, h *service.Host) error {
			h.Add("work", func(context.Context) error { return err })
			return nil
		}
	}
	refuse := func(context.Context, *service.Host) error {
		return service.Usagef("no brain for tester: give one with --brain")
	}
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte("brian: rules\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args  []string
		setup func(context.Context, *service.Host) error
		code  int
		says  string // on either output
	}{
		"work that ends well":          {[]string{}, fail(nil), 0, "draining"},
		"work that fails":              {[]string{}, fail(errors.New("the log is damaged")), 1, "work: the log is damaged"},
		"an unknown flag":              {[]string{"--brian=x"}, nil, 2, `unknown flag --brian, did you mean "--brain"`},
		"a bad value":                  {[]string{"--log-level=loud"}, nil, 2, `--log-level must be one of "debug","info","warn","error" but got "loud"`},
		"an argument":                  {[]string{"now"}, nil, 2, "unexpected argument now"},
		"a missing configuration file": {[]string{"--config=none.yaml"}, nil, 2, "none.yaml: no such file"},
		"an unknown name in the file":  {[]string{"--config=" + broken}, nil, 2, `there is no flag "brian"; flags are brain, config, grace`},
		"what Setup cannot use":        {[]string{}, refuse, 2, "no brain for tester: give one with --brain\nworker --help has the usage."},
		"an address that is taken":     {[]string{"--http=" + strings.TrimPrefix(server.ClientURL(), "nats://")}, nil, 1, "address already in use"},
		"metrics for other machines":   {[]string{"--http=0.0.0.0:0"}, nil, 2, "--http-plain takes the responsibility"},
		"metrics said to be for them":  {[]string{"--http=0.0.0.0:0", "--http-plain"}, fail(nil), 0, "draining"},
		"half a certificate":           {[]string{"--http-cert=" + broken}, nil, 2, "a certificate and its key belong together"},
		"no certificate in the file":   {[]string{"--http-cert=" + broken, "--http-key=" + broken}, nil, 2, "--http-cert, --http-key"},
		"--help":                       {[]string{"--help"}, nil, 0, "SIGNALBOX_BRAIN"},
		"--version":                    {[]string{"--version"}, nil, 0, "worker "},
		"--healthcheck without a port": {[]string{"--healthcheck"}, nil, 2, "--healthcheck needs"},
		"--healthcheck of nothing":     {[]string{"--healthcheck", "--http=127.0.0.1:1"}, nil, 1, "not running: nothing listens at 127.0.0.1:1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			code := service.Run(t.Context(), service.Main{
				Name: "worker", Program: &program{setup: test.setup}, Stdout: &out, Stderr: &out,
				Args: append([]string{"--nats", server.ClientURL()}, test.args...),
			})
			if code != test.code || !strings.Contains(out.String(), test.says) {
				t.Errorf("exit code %d, want %d and %q in:\n%s", code, test.code, test.says, out.String())
			}
		})
	}
}
