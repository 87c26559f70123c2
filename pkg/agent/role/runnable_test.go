package role_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func TestAProgramThatCannotBeStartedIsRefusedAtTheStart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	script := write("fix.sh", "#!/bin/sh\n", 0o600)
	for _, c := range []struct{ name, spec, claude, says string }{
		{"a name that nothing has", "exec:codx --fast", "", "there is no program codx: it is nowhere in PATH"},
		{"a list with such a name", `exec:["codx", "--fast"]`, "", "there is no program codx"},
		{"a file that is not executable", "exec:" + script, "", "chmod +x " + script},
		{"a directory", "exec:" + dir, "", "is a directory"},
		{"a preset that is not installed", "exec:claude", "", "there is no program claude"},
		{"a preset that does not answer", "exec:claude", "#!/bin/sh\necho 'Cannot find module'\nexit 3\n", `claude --version ended with exit status 3: "Cannot find module"`},
		{"a preset that answers", "exec:claude", "#!/bin/sh\necho 1.0\n", ""},
		{"a quote that is not closed", `exec:echo "two words`, "", "the shell cannot read it: sh: "},
		{"one of a preset's flags", `exec:claude --append-system-prompt "two words`, "#!/bin/sh\necho 1.0\n", "without closing quote `\"`"},
		{"what the shell has itself", "exec:exit 0", "", ""},
		{"what the shell has to read", `exec:A=1 true`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			bin := t.TempDir()
			if c.claude != "" {
				if err := os.WriteFile(filepath.Join(bin, "claude"), []byte(c.claude), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", bin+":/usr/bin:/bin")
			_, err := role.Specs{"developer": c.spec}.Build("developer", role.Tools{})
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("the error is %v, want %q", err, c.says)
			}
		})
	}
}

func TestABrainForAStateThatItsRoleHasNotIsRefused(t *testing.T) {
	defs, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	for spec, says := range map[string]string{
		"tester.creating_test=exec:true":  "tester has no state creating_test; want one of creating_tests, ",
		"tester.implementing=exec:true":   "tester has no state implementing",
		"nosuch=exec:true":                "there is no such role here; want one of tester, developer",
		"tester.creating_tests=exec:true": "",
	} {
		err := role.Settings{Brain: []string{spec}}.CheckBrains([]string{"tester", "developer"}, defs)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: the error is %v, want %q", spec, err, says)
		}
	}
}
