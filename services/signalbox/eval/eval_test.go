package eval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/cli"
	"github.com/signalbox/signalbox/services/signalbox/command"
	"github.com/signalbox/signalbox/services/signalbox/eval"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// TestMain makes this binary the program that eval runs brains with.
func TestMain(m *testing.M) {
	confine.Intercept()
	if path, err := os.Executable(); err == nil {
		os.Setenv(confine.Variable, path) // the sandbox serves the machine's build cache by it
	}
	if len(os.Args) > 1 && os.Args[1] == "resolve" {
		os.Exit(cli.Run(context.Background(), term.System(), os.Args[1:]))
	}
	os.Exit(m.Run())
}

// history is a repository with one change that is a case, and others that are none.
func history(t *testing.T) string {
	t.Helper()
	g := gittest.Repo(t)
	commit := func(message string, files map[string]string) {
		for name, content := range files {
			path := filepath.Join(g.Dir(), name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		gittest.Run(t, g, "add", "-A")
		gittest.Run(t, g, "commit", "--quiet", "-m", message)
	}
	commit("Begin", map[string]string{".signalbox.yaml": "test: {command: sh tests/all.sh}\n", "tests/all.sh": "grep -q hello greeting\n", "greeting": "hello\n"})
	commit("Explain", map[string]string{"README.md": "Read this.\n"})
	commit("Greet the world, too (#7)\n\n`greeting` says hello to nobody. It should have a line world.", map[string]string{
		"greeting": "hello\nworld\n", ".travis.yml": "script: sh tests/all.sh\n", "tests/all.sh": "grep -q hello greeting && grep -q world greeting\n"})
	commit("Say it with a test that says nothing", map[string]string{"greeting": "hello\nworld\n!\n", "tests/other.sh": "true\n"})
	return g.Dir()
}

// run runs a command line of signalbox-eval, or the command history of signalbox, which has to end
// with the code.
func run(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, told bytes.Buffer
	env := term.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &told, User: "operator:test", Now: time.Now, Width: 80}
	got := 0
	if args[0] == "history" {
		got = cli.Run(t.Context(), env, args)
	} else {
		got = command.Run(t.Context(), env, service.Call{Name: "signalbox-eval", Args: args}, new(eval.Grammar))
	}
	if got != code {
		t.Fatalf("%q ended with %d, want %d:\n%s%s", args, got, code, out.String(), told.String())
	}
	return out.String(), told.String()
}

func TestTheOracleSolvesAllAndNullNothing(t *testing.T) {
	dir := t.TempDir()
	cases, out := filepath.Join(dir, "cases"), filepath.Join(dir, "out")
	source := history(t)
	said, _ := run(t, 0, "mine", "--repo", source, "--out", cases)
	for _, want := range []string{"1 cases of 4 changes", "1 dropped: it changes no test", "1 dropped: its tests pass without it", "1 dropped: there is nothing before it"} {
		if !strings.Contains(said, want) {
			t.Errorf("mining says %s, want %q", said, want)
		}
	}
	if err := os.RemoveAll(source); err != nil { // the cases have all they need
		t.Fatal(err)
	}
	page := filepath.Join(dir, "eval.html")
	args := []string{"run", "--program", os.Args[0], "--cases", cases, "--brain", "oracle", "--brain", "null", "--set", "null:policy.max_iterations=1",
		"-P", "2", "--out", out, "--html", page, "--json"}
	text, _ := run(t, 0, args...)
	var got struct {
		Scores []eval.Score
		Runs   []eval.Run
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Scores) != 2 || len(got.Runs) != 2 {
		t.Fatalf("it printed %s: %v", text, err)
	}
	if oracle, null := got.Scores[0], got.Scores[1]; oracle.Solved != 1 || oracle.Passed != 1 || null.Solved != 0 || null.Wrong != 0 || null.Errors != 0 {
		t.Errorf("the scores are %+v; the runs %+v", got.Scores, got.Runs)
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "Greet the world, too") || !strings.Contains(string(html), "1/1") {
		t.Errorf("the page is %s: %v", html, err)
	}
	for _, r := range got.Runs {
		if log, _ := run(t, 0, "history", r.Instance, "--data", r.Data); !strings.Contains(log, "implementing") {
			t.Errorf("the log of %s says %s", r.Brain, log)
		}
		base := git.New(filepath.Join(out, "runs", r.Case, r.Brain+"-1", "code"))
		if all := gittest.Run(t, base, "rev-list", "--all", "--", "tests/all.sh"); r.Brain == "null" && strings.Count(all, "\n") > 1 {
			t.Errorf("the code that a brain gets has the change: %s", all)
		}
	}

	t.Run("and an evaluation is resumed", func(t *testing.T) {
		if _, told := run(t, 2, args...); !strings.Contains(told, "--resume goes on") {
			t.Errorf("without --resume it says %s", told)
		}
		again, told := run(t, 0, append(args, "--resume", "--brain", "wrong=exec:echo world >> tests/all.sh; echo x > a")...)
		if strings.Contains(told, "oracle") || strings.Contains(told, "null ") || !strings.Contains(told, "wrong") {
			t.Errorf("it ran %s", told)
		}
		if err := json.Unmarshal([]byte(again), &got); err != nil || len(got.Scores) != 3 || got.Scores[0].Solved != 1 || got.Scores[2].Solved != 0 {
			t.Errorf("it printed %s: %v", again, err)
		}
	})
}
