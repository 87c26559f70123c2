package deploy_test

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/testkit/programtest"
)

func TestEachBinaryKnowsWhatItIsTold(t *testing.T) {
	bin := programtest.Services(t)
	inImage := variables(t)
	for name, s := range load(t).Services {
		if s.Build == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			inImage, command := inImage, []string{name}
			if s.Command[0] == "signalbox" { // a command of the program, which reads no variable of services
				inImage, command = nil, s.Command[:2]
			}
			help := help(t, filepath.Join(bin, command[0]), command[1:]...)
			for _, variable := range slices.Concat(inImage, slices.Sorted(maps.Keys(s.Environment))) {
				if strings.HasPrefix(variable, "SIGNALBOX_") && !knows(help, "$"+variable) { // others are read by Go and git
					t.Errorf("it has no variable %s", variable)
				}
			}
			check := []string{"--healthcheck"} // that of the image, unless it has its own
			if own, ok := s.Healthcheck["test"].([]any); ok {
				check = nil
				for _, arg := range own {
					check = append(check, fmt.Sprint(arg))
				}
			}
			for _, arg := range append(s.Command, check...) {
				if flag, _, _ := strings.Cut(arg, "="); strings.HasPrefix(flag, "--") && !knows(help, flag) {
					t.Errorf("it has no flag %s", flag)
				}
			}
		})
	}
}

// help returns the --help of a binary, or of a command of signalbox with the flags that all commands have.
func help(t *testing.T, binary string, command ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary, append(command, "--help")...).CombinedOutput()
	if err != nil {
		t.Fatalf("--help: %v\n%s", err, out)
	}
	if len(command) > 0 {
		common, err := exec.CommandContext(t.Context(), binary, "help", "flags").CombinedOutput()
		if err != nil {
			t.Fatalf("help flags: %v\n%s", err, common)
		}
		out = append(out, common...)
	}
	return string(out)
}

// knows reports whether the help has the flag or variable as a whole word.
func knows(help, name string) bool {
	return regexp.MustCompile(regexp.QuoteMeta(name) + `\b(?:[^-_]|$)`).MatchString(help)
}

func TestANameIsKnownOnlyWhenItIsThereWhole(t *testing.T) {
	const help = "--nats-user=NAME  user ($SIGNALBOX_NATS_USER).\n--repo=REPO,...  ($SIGNALBOX_REPO,\n$OTHER)"
	for name, want := range map[string]bool{
		"--nats-user": true, "--nats": false, "$SIGNALBOX_NATS_USER": true, "$SIGNALBOX_NATS": false,
		"--repo": true, "$SIGNALBOX_REPO": true, "--work-dir": false,
	} {
		if got := knows(help, name); got != want {
			t.Errorf("%s is known: %t", name, got)
		}
	}
}
