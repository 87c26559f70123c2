package deploy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
		if !ok && unit != "signalbox-backup.service" {
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

func TestABackupKeepsTheNewestDaysAndNothingIsRemovedWhenItFails(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	days := []string{"2026-01-01", "2026-01-02", "2026-01-03", "other"}
	for _, day := range days {
		if err := os.MkdirAll(filepath.Join(kept, day), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "signalbox")
	run := func(verifies bool) error {
		script := "#!/bin/sh\n[ \"$2\" != --verify ] || exit " + map[bool]string{true: "0", false: "1"}[verifies] + "\nmkdir -p \"$2\"\n"
		if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "scripts/signalbox-backup"))
		cmd.Env = append(os.Environ(), "DIR="+kept, "KEEP=2", "SIGNALBOX="+program)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	there := func() (names []string) {
		entries, err := os.ReadDir(kept)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if err := run(false); err == nil {
		t.Error("a backup that is not whole counts")
	}
	if got := there(); len(got) != 5 {
		t.Errorf("after a fault there are %v", got)
	}
	if err := run(true); err != nil {
		t.Fatal(err)
	}
	if got := there(); len(got) != 3 || slices.Contains(got, "2026-01-02") || !slices.Contains(got, "2026-01-03") || !slices.Contains(got, "other") {
		t.Errorf("it keeps %v", got)
	}
}
