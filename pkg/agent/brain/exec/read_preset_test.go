package exec_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// presets writes files of presets, and returns their directory.
func presets(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAWrongPresetIsRefusedWithItsFileAndLine(t *testing.T) {
	const good = "preset: mine\ncommand: [mine]\nanswer: text\n"
	for name, c := range map[string]struct{ text, want string }{
		"an unknown key":               {good + "comand: [mine]\n", `mine.yaml:4: unknown field "comand"`},
		"a key twice":                  {good + "answer: text\n", `mine.yaml:4: mapping key "answer" already defined`},
		"a list that is none":          {"preset: mine\ncommand: {a: b}\nanswer: text\n", "mine.yaml:2: "},
		"no YAML":                      {"preset: [mine\n", "mine.yaml:1: "},
		"too deep":                     {strings.Repeat("[", 100), "mine.yaml: line 1 nests deeper"},
		"nothing":                      {"", "mine.yaml:1: answer: \"\": want one of aider-text, claude-json"},
		"no reader":                    {"preset: mine\ncommand: [mine]\n", "mine.yaml:1: answer: \"\": want one of"},
		"a reader that is not there":   {"preset: mine\ncommand: [mine]\nanswer: cursor-json\n", `mine.yaml:3: answer: "cursor-json": want one of`},
		"no command":                   {"preset: mine\nanswer: text\n", "mine.yaml:1: command: want a program"},
		"a name that is no word":       {"preset: My agent\ncommand: [mine]\nanswer: text\n", `mine.yaml:1: preset: "My agent": want a name`},
		"a name that is not its file":  {"command: [mine]\npreset: yours\nanswer: text\n", "mine.yaml:2: preset yours: want it in a file yours.yaml"},
		"a placeholder nobody fills":   {"preset: mine\ncommand: [mine, '{{home}}']\nanswer: text\n", "mine.yaml:2: {{home}}: want one of {{prompt}}"},
		"a base that is not there":     {good + "extends: claud\n", "mine.yaml:4: extends: there is no preset claud: want one of aider"},
		"models nobody knows":          {good + "models: [mistral]\n", "mine.yaml:4: models: mistral: want some of anthropic, any"},
		"a login outside of the home":  {good + "login: [../x]\n", "mine.yaml:4: login: ../x: want files below the home"},
		"a pattern that is none":       {good + "drop: '[x'\n", "mine.yaml:4: drop: [x: want a pattern"},
		"a version that is no text":    {good + "known: [1]\n", "mine.yaml:4: "},
		"an exit code that is no code": {good + "exits: {one: log in}\n", "mine.yaml:4: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := exec.ReadPresets(presets(t, map[string]string{"mine.yaml": c.text}))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if _, err := exec.ReadPresets("/no/such"); err == nil || !strings.Contains(err.Error(), "want a directory") {
		t.Errorf("of a directory that is not there: %v", err)
	}
}

func TestATeamAddsAPresetAndOverridesOne(t *testing.T) {
	dir := presets(t, map[string]string{
		"mine.yaml": "preset: mine\nabout: ours\nknown: \"2.0\"\ncommand: [mine, --prompt, '{{prompt}}', --out, '{{result}}']\nunconfined: [--careful]\n" +
			"models: [anthropic]\nenv: [MINE]\nset: {MODE: auto}\nanswer: text\nexits: {3: log mine in}\n",
		"claude.yaml": "preset: claude\nextends: claude\ncommand: [claude, -p, --output-format, stream-json, --effort, high]\n",
		"notes.txt":   "no preset",
	})
	all, err := exec.ReadPresets(dir)
	if err != nil {
		t.Fatal(err)
	}
	if names := all.Names(); !slices.Equal(names, []string{"aider", "claude", "codex", "gemini", "goose", "mine", "opencode"}) {
		t.Errorf("names %q", names)
	}
	mine, ok := all.Find("mine")
	shipped, _ := all.Find("codex")
	if !ok || mine.About != "ours" || mine.Known != "2.0" || mine.From != filepath.Join(dir, "mine.yaml") || shipped.From != "" || shipped.Source == "" {
		t.Errorf("%+v, %+v", mine, shipped)
	}
	run := func(t *testing.T, spec string) (brain.Outcome, error) {
		p, err := all.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		return work(t, exec.Config{Program: p}, assignment(t))
	}
	t.Run("its own", func(t *testing.T) {
		t.Setenv("MINE", "yes")
		kept := fake(t, "mine", "Looking.\nFixed the sum.\n", "")
		out, err := run(t, "mine --fast")
		if err != nil || out.Result.Summary != "Fixed the sum." {
			t.Fatalf("%+v, %v", out.Result, err)
		}
		argv, env := read(t, kept, "argv"), read(t, kept, "env")
		if !strings.Contains(argv, "/prompt.md\n--out\n") || !strings.Contains(argv, "/result.json\n--fast\n--careful\n") || !strings.Contains(env, "MODE=auto\n") ||
			!strings.Contains(env, "MINE=yes\n") {
			t.Errorf("argv %q, environment:\n%s", argv, env)
		}
	})
	t.Run("an exit code of its own", func(t *testing.T) {
		fake(t, "mine", "", "exit 3")
		if _, err := run(t, "mine"); !errors.Is(err, brain.ErrUnusable) || !strings.Contains(err.Error(), "log mine in") {
			t.Errorf("err %v", err)
		}
	})
	t.Run("one that extends another", func(t *testing.T) {
		kept := fake(t, "claude", claudeDone, "")
		out, err := run(t, "claude")
		if err != nil || out.Result.Spend.USD != 0.25 || out.Result.Status != instance.Success {
			t.Fatalf("%+v, %v", out.Result, err)
		}
		if argv := read(t, kept, "argv"); argv != "-p\n--output-format\nstream-json\n--effort\nhigh\n" {
			t.Errorf("argv %q", argv)
		}
	})
}

func read(t *testing.T, dir, name string) string { return kept(t, dir, name) }

func TestAFlagThatAProgramDoesNotKnowIsNamed(t *testing.T) {
	const help = "Usage: claude [options]\n\nOptions:\n  -p, --print  x\n  --output-format <f>\n  --verbose\n  --json-schema <s>\n  --add-dir <d>\n" +
		"  --permission-mode <m>\n  --allowedTools <t>\n  --disallowedTools <t>\n  --strict-mcp-config\n"
	for name, c := range map[string]struct {
		fails  string // what it does with a prompt
		people bool
		want   string
	}{
		"it names one":               {"echo \"error: unknown option '--no-session-persistence'\" >&2; exit 1", true, "claude 1.0.7 (Claude Code) does not know --no-session-persistence; version 2.1.330 is known to work"},
		"it prints its help instead": {"printf '%s' \"$HELP\" >&2; exit 1", true, "does not know --no-session-persistence;"},
		"it ends for another reason": {"echo 'error: --verbose went wrong' >&2; exit 1", false, "went wrong"},
		"it has worked":              {"echo '{\"type\":\"system\"}'; echo 'no --no-session-persistence'; exit 1", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script := "#!/bin/sh\nHELP='" + help + "'\ncase \"$1\" in --help) printf '%s' \"$HELP\"; exit;; --version) echo '1.0.7 (Claude Code)'; exit;; esac\n" + c.fails + "\n"
			if err := os.WriteFile(filepath.Join(dir, "claude"), []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			_, err := work(t, program(t, "claude"), assignment(t))
			if errors.Is(err, brain.ErrUnusable) != c.people || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err %v", err)
			}
		})
	}
}
