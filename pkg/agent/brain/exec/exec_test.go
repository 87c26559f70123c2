package exec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
	"github.com/signalbox/signalbox/pkg/agent/brain/mcp/mcptest"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestMain(m *testing.M) {
	mcptest.Intercept()
	interceptClient()
	confine.Intercept()
	if exe, err := os.Executable(); err == nil {
		os.Setenv(confine.Variable, exe)
	}
	goleak.VerifyTestMain(m)
}

func assignment(t *testing.T) brain.Assignment {
	return brain.Assignment{
		Instance: "acme/widgets/42", Workflow: "issue", State: "implementing", About: "Fix it.", Role: "developer", Attempt: 2,
		Issue: instance.Issue{Title: "Sum is wrong"}, Dir: t.TempDir(),
	}
}

func program(t *testing.T, script string) exec.Config {
	t.Helper()
	p, err := (exec.Presets{}).Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	return exec.Config{Program: p, Grace: 20 * time.Millisecond}
}

func work(t *testing.T, cfg exec.Config, a brain.Assignment) (brain.Outcome, error) {
	t.Helper()
	b, err := exec.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b.Work(t.Context(), a)
}

func TestAScriptThatExitsWith0HasSucceededUndeclared(t *testing.T) {
	a := assignment(t)
	out, err := work(t, program(t, "echo working; echo fixed > fix; echo 'Fixed the sum.'; echo"), a)
	if err != nil {
		t.Fatal(err)
	}
	r := out.Result
	if out.Declared || r.Status != instance.Success || r.ConfidenceScore != 1 || r.Summary != "Fixed the sum." || string(out.Output) != "working\nFixed the sum.\n\n" {
		t.Errorf("%+v", out)
	}
	if !bytes.Contains(out.Asked, []byte(a.Issue.Title)) {
		t.Errorf("it was asked %q", out.Asked)
	}
	if text, err := os.ReadFile(filepath.Join(a.Dir, "fix")); err != nil || string(text) != "fixed\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAProgramIsToldItsWork(t *testing.T) {
	t.Setenv("FORGE_TOKEN", "s3cret")
	t.Setenv("MY_MODEL", "large")
	a := assignment(t)
	cfg := program(t, `set -eu
		test "$PWD" = `+a.Dir+`
		test "$(cat)" = "$(cat "$SIGNALBOX_PROMPT")"
		grep -q 'Sum is wrong' "$SIGNALBOX_PROMPT"
		grep -q '"state": "implementing"' "$SIGNALBOX_ASSIGNMENT"
		grep -q confidence_score "$SIGNALBOX_SCHEMA"
		test ! -e "$SIGNALBOX_RESULT"
		case "$SIGNALBOX_RESULT" in "$PWD"/*) exit 4;; esac
		test -z "$(ls)"
		echo "$SIGNALBOX_INSTANCE $SIGNALBOX_STATE $SIGNALBOX_ROLE $SIGNALBOX_ATTEMPT $MY_MODEL ${FORGE_TOKEN-none}"
		dirname "$SIGNALBOX_RESULT" > where`)
	cfg.Env = []string{"MY_*"}
	out, err := work(t, cfg, a)
	if err != nil || out.Result.Summary != "acme/widgets/42 implementing developer 2 large none" {
		t.Errorf("%v, %s", err, out.Output)
	}
	where, err := os.ReadFile(filepath.Join(a.Dir, "where"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(strings.TrimSpace(string(where))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its files are left: %v", err)
	}
}

func TestAProgramWithoutCodeRunsInAnEmptyDirectory(t *testing.T) {
	a := assignment(t)
	a.Dir = ""
	if out, err := work(t, program(t, `test -z "$(ls -A)" && touch x && echo "$PWD"`), a); err != nil || !filepath.IsAbs(out.Result.Summary) {
		t.Errorf("%v, %q", err, out.Output)
	}
}

func TestAStatedResultIsTaken(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   instance.Result
	}{
		"with exit code 0": {
			`echo '{"status": "success", "confidence_score": 0.9, "next": "running_tests", "summary": "Done."}' > "$SIGNALBOX_RESULT"`,
			instance.Result{Status: instance.Success, ConfidenceScore: 0.9, Next: "running_tests", Summary: "Done."},
		},
		"a failure, whatever the exit code": {
			`echo '{"status": "failure", "issues_found": ["no idea"]}' > "$SIGNALBOX_RESULT"; echo gave up; exit 3`,
			instance.Result{Status: instance.Failure, ConfidenceScore: 1, IssuesFound: []string{"no idea"}, Summary: "gave up"},
		},
		"a question": {
			`echo '{"status": "blocked", "questions": ["Which?"], "spend": {"usd": 0.5}}' > "$SIGNALBOX_RESULT"; exit 1`,
			instance.Result{Status: instance.Blocked, ConfidenceScore: 1, Questions: []string{"Which?"}, Spend: instance.Cost{USD: 0.5}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := work(t, program(t, c.script), assignment(t))
			c.want.Spend.WallMS = out.Result.Spend.WallMS
			if err != nil || !out.Declared || fmt.Sprintf("%+v", out.Result) != fmt.Sprintf("%+v", c.want) {
				t.Errorf("err %v\n got %+v\nwant %+v", err, out.Result, c.want)
			}
		})
	}
}

func TestAFailureTellsWhy(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   []string
		is     error
	}{
		"a bad exit code":           {"echo one; echo two >&2; exit 3", []string{"exit code 3", "one\ntwo"}, nil},
		"silence":                   {"exit 3", []string{"exit code 3", "it printed nothing"}, nil},
		"only the last lines":       {"seq 1000; exit 1", []string{"last line: 1000\n981\n", "\n1000"}, nil},
		"a crash":                   {"kill -SEGV $$", []string{"SIGSEGV"}, nil},
		"a crash below the shell":   {"sh -c 'kill -ABRT $$'; exit $?", []string{"exit code 134 (SIGABRT)"}, nil},
		"an unknown program":        {"no-such-agent --fast", []string{"exit code 127", "no-such-agent"}, nil},
		"not tried":                 {"echo 'model is away'; exit 75", []string{"model is away"}, brain.ErrInfrastructure},
		"success, but exit code 1":  {`echo '{"status": "success"}' > "$SIGNALBOX_RESULT"; exit 1`, []string{"exit code 1", "though the result it wrote is success"}, nil},
		"a result with a bad value": {`echo '{"status": "success", "confidence_score": 250}' > "$SIGNALBOX_RESULT"`, []string{"confidence_score: maximum"}, brain.ErrInvalidResult},
		"a result that is no JSON":  {`echo done > "$SIGNALBOX_RESULT"; exit 2`, []string{"not JSON", "exit code 2"}, brain.ErrInvalidResult},
		"half a result":             {`printf '{"status": "suc' > "$SIGNALBOX_RESULT"`, []string{"not JSON"}, brain.ErrInvalidResult},
		"a huge result":             {`yes | head -c 20000000 > "$SIGNALBOX_RESULT"`, []string{"larger than"}, brain.ErrInvalidResult},
		"a result that is a link":   {`ln -s /etc/passwd "$SIGNALBOX_RESULT"`, []string{"plain file"}, brain.ErrInvalidResult},
		"a result that is a pipe":   {`mkfifo "$SIGNALBOX_RESULT"`, []string{"plain file"}, brain.ErrInvalidResult},
		"a result that is a folder": {`mkdir "$SIGNALBOX_RESULT"`, []string{"plain file"}, brain.ErrInvalidResult},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := work(t, program(t, c.script), assignment(t))
			if err == nil || (c.is != nil && !errors.Is(err, c.is)) || (c.is == nil && errors.Is(err, brain.ErrInfrastructure)) {
				t.Fatalf("err %v, outcome %+v", err, out)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %v", want, err)
				}
			}
			if strings.Contains(err.Error(), "root:") {
				t.Errorf("tells what the link leads to: %v", err)
			}
		})
	}
}

func TestLimitsAreTold(t *testing.T) {
	t.Run("idle", func(t *testing.T) {
		cfg := program(t, "trap '' INT TERM; echo thinking; while :; do sleep 600; done")
		cfg.Idle = 3 * time.Second // time enough to begin, on a busy machine too
		out, err := work(t, cfg, assignment(t))
		if !errors.Is(err, exec.ErrTimeLimit) || !strings.Contains(err.Error(), "idle time limit") || !strings.Contains(err.Error(), "thinking") {
			t.Errorf("err %v", err)
		}
		if string(out.Output) != "thinking\n" || out.Result.Spend.WallMS == 0 {
			t.Errorf("%+v", out)
		}
	})
	t.Run("wall", func(t *testing.T) {
		cfg := program(t, "while :; do echo on; sleep 0.01; done")
		cfg.Wall = 100 * time.Millisecond
		if _, err := work(t, cfg, assignment(t)); !errors.Is(err, exec.ErrTimeLimit) || !strings.Contains(err.Error(), "wall time limit") {
			t.Errorf("err %v", err)
		}
	})
	t.Run("the end of the context is not one", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		why := errors.New("lease lapsed")
		cfg := program(t, "echo begun; sleep 600")
		cfg.Line = func(a brain.Assignment, line string) {
			if a.State == "implementing" && line == "begun" {
				cancel(why)
			}
		}
		b, err := exec.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Work(ctx, assignment(t)); !errors.Is(err, why) || errors.Is(err, exec.ErrTimeLimit) {
			t.Errorf("err %v", err)
		}
	})
}

func TestAGrandchildThatHoldsTheOutputDoesNotHoldTheWork(t *testing.T) {
	out, err := work(t, program(t, "sleep 600 & echo done"), assignment(t))
	if err != nil || out.Result.Summary != "done" {
		t.Errorf("%v, %+v", err, out)
	}
}

func TestALotOfOutputIsCapped(t *testing.T) {
	cfg := program(t, "yes $(printf %01023d 0) | head -c 209715200; echo last words")
	cfg.MaxOutput = 4096
	out, err := work(t, cfg, assignment(t))
	if err != nil || len(out.Output) > 5000 || out.Result.Summary != "last words" || !bytes.Contains(out.Output, []byte("bytes left out")) {
		t.Errorf("%v, %d bytes, summary %q", err, len(out.Output), out.Result.Summary)
	}
}

func TestAProgramMayRemoveItsTree(t *testing.T) {
	out, err := work(t, program(t, `rm -rf "$PWD"; echo gone`), assignment(t))
	if err != nil || out.Declared || out.Result.Summary != "gone" {
		t.Errorf("%v, %+v", err, out)
	}
}

func TestInTheSandboxAProgramStillHasItsFiles(t *testing.T) {
	for _, mode := range []sandbox.Mode{sandbox.Bwrap, sandbox.Landlock} {
		t.Run(string(mode), func(t *testing.T) {
			s, err := sandbox.New(t.Context(), mode)
			if err != nil {
				t.Skip("not on this machine: ", err)
			}
			hasItsFiles(t, s)
		})
	}
}

func hasItsFiles(t *testing.T, s sandbox.Sandbox) {
	shared := t.TempDir()
	if err := os.WriteFile(filepath.Join(shared, "object"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := assignment(t)
	a.Shared = shared
	cfg := program(t, `set -e; cat `+shared+`/object; ! touch `+shared+`/new; touch made; cat > prompt; cp "$SIGNALBOX_ASSIGNMENT" .; echo '{"status":"success"}' > "$SIGNALBOX_RESULT"`)
	cfg.Sandbox = s
	out, err := work(t, cfg, a)
	if err != nil || !out.Declared {
		t.Fatalf("%v: %s", err, out.Output)
	}
	for _, name := range []string{"made", "prompt", "assignment.json"} {
		if _, err := os.Stat(filepath.Join(a.Dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestMissingProgramsAreRefusedBeforeWorkBegins(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, spec := range []string{"claude", `["no-such-program"]`} {
		p, err := (exec.Presets{}).Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := exec.New(exec.Config{Program: p}); err == nil || !strings.Contains(err.Error(), "install it") {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if _, err := exec.New(exec.Config{}); err == nil {
		t.Error("no program was taken")
	}
}
