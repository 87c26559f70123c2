package exec_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
)

func TestParse(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("it's.sh", []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	// As the program sees it, not as a link calls it.
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string][]string{
		"echo hi | cat":          {"sh", "-c", "echo hi | cat"},
		" exec:make fix ":        {"sh", "-c", "make fix"},
		"./it's.sh --fast":       {"sh", "-c", "'" + strings.ReplaceAll(filepath.Join(dir, "it's.sh"), "'", `'\''`) + "' --fast"},
		"./absent.sh":            {"sh", "-c", "./absent.sh"},
		`["agent", "a b"]`:       {"agent", "a b"},
		`["./it's.sh", "x"]`:     {filepath.Join(dir, "it's.sh"), "x"},
		"claudette":              {"sh", "-c", "claudette"},
		"sh -c 'claude -p' --":   {"sh", "-c", "sh -c 'claude -p' --"},
		"exec:/usr/bin/env true": {"sh", "-c", "/usr/bin/env true"},
	} {
		if p, err := (exec.Presets{}).Parse(spec); err != nil || !slices.Equal(p.Argv, want) {
			t.Errorf("%s: %q, %v; want %q", spec, p.Argv, err, want)
		}
	}
	for _, spec := range []string{"", "exec:", `claude "two words`, `claude 'it`, "claude --x $(id)", `[]`, `["`, `[1]`, `[""]`} {
		if p, err := (exec.Presets{}).Parse(spec); err == nil {
			t.Errorf("%s was taken: %q", spec, p.Argv)
		}
	}
	p, err := (exec.Presets{}).Parse("claude --model opus")
	if err != nil || p.Name != "claude" || p.Argv[0] != "claude" || !slices.Equal(p.Argv[len(p.Argv)-2:], []string{"--model", "opus"}) {
		t.Errorf("%q, %v", p.Argv, err)
	}
	for flags, want := range map[string][]string{
		`--append-system-prompt "two words"`: {"--append-system-prompt", "two words"},
		`--x='it''s' a\ b ""`:                {"--x=its", "a b", ""},
		`--dir "$PWD/x"`:                     {"--dir", dir + "/x"},
		"":                                   {"--no-session-persistence"},
	} {
		p, err := (exec.Presets{}).Parse("claude " + flags)
		if err != nil || len(p.Argv) < len(want) || !slices.Equal(p.Argv[len(p.Argv)-len(want):], want) {
			t.Errorf("%s: %q, %v", flags, p.Argv, err)
		}
	}
	if got := (exec.Presets{}).Names(); !slices.Equal(got, []string{"aider", "claude", "codex", "gemini", "goose", "opencode"}) {
		t.Errorf("presets %q", got)
	}
}
