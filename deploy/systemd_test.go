package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/testkit/programtest"
)

// instances are services that each unit of systemd is tried with.
var instances = map[string][]string{
	"signalbox@.service":        {"orchestrator", "plan-manager"},
	"signalbox-github@.service": {"gateway", "pm", "committer", "shepherd", "git-manager"},
	"signalbox-role@.service":   {"analyst", "tester", "developer", "navigator"},
}

func units(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "deploy/systemd/*.service"))
	if err != nil || len(files) < 4 {
		t.Fatalf("units %v: %v", files, err)
	}
	all := map[string]string{}
	for _, f := range files {
		all[filepath.Base(f)] = read(t, "deploy/systemd/"+filepath.Base(f))
	}
	return all
}

func TestUnitsSetWhatTheirServicesKnow(t *testing.T) {
	bin := programtest.Services(t)
	for unit, text := range units(t) {
		names, ok := instances[unit]
		if start := regexp.MustCompile(`\nExecStart=/usr/local/bin/signalbox (\w+) (.*)\n`).FindStringSubmatch(text); !ok && start != nil {
			command := help(t, filepath.Join(bin, "signalbox"), start[1])
			for _, name := range regexp.MustCompile(`--[a-z-]+|SIGNALBOX_[A-Z_]+`).FindAllString(start[2]+environment(text), -1) {
				if !knows(command, name) {
					t.Errorf("%s: signalbox %s has no %s", unit, start[1], name)
				}
			}
		} else if !ok {
			t.Errorf("no service is tried with %s", unit)
		}
		for _, name := range names {
			program, _, _ := strings.Cut(unit, "@")
			program = strings.TrimSuffix(program, "-role")
			if !strings.Contains(text, "\nExecStart=/usr/local/bin/"+program+" %i\n") {
				t.Errorf("%s does not start %s", unit, program)
			}
			// As the unit calls it: the program serves the name, and its help is that of the service.
			out, err := exec.CommandContext(t.Context(), filepath.Join(bin, program), name, "--help").CombinedOutput()
			if err != nil {
				t.Fatalf("%s %s --help: %v\n%s", program, name, err, out)
			}
			for _, variable := range regexp.MustCompile(`\bSIGNALBOX_[A-Z_]+\b`).FindAllString(environment(text), -1) {
				if !knows(string(out), "$"+variable) {
					t.Errorf("%s: %s has no variable %s", unit, name, variable)
				}
			}
		}
	}
}

// environment returns the variables that a unit sets, by name.
func environment(text string) string {
	return strings.Join(regexp.MustCompile(`(?m)^Environment=.*$`).FindAllString(text, -1), "\n")
}

// What covers parts of /proc has the kernel refuse the /proc that bubblewrap mounts, and its namespaces.
func TestTheUnitOfRolesLetsBubblewrapWork(t *testing.T) {
	text := units(t)["signalbox-role@.service"]
	for _, no := range []string{"RestrictNamespaces", "ProtectKernelTunables", "ProtectKernelLogs", "ProtectProc", "MemoryDenyWriteExecute", "forge"} {
		if strings.Contains(text, "\n"+no) || no == "forge" && strings.Contains(text, "forge-token") {
			t.Errorf("it has %s", no)
		}
	}
	for _, want := range []string{"NoNewPrivileges=yes", "CapabilityBoundingSet=\n", "ProtectSystem=strict", "ProtectHome=yes", "DynamicUser=yes", "MemoryMax="} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("it lacks %s", want)
		}
	}
}

func TestSystemdTakesTheUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here")
	}
	dir := t.TempDir()
	for unit, text := range units(t) {
		name := unit
		if names := instances[unit]; names != nil {
			name = strings.Replace(unit, "@", "@"+names[0], 1)
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.CommandContext(t.Context(), analyze, "verify", file).CombinedOutput() // it fails for the program, which is not installed
		for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			if strings.Contains(line, name) && !strings.Contains(line, "is not executable") {
				t.Errorf("%s", line)
			}
		}
	}
}
