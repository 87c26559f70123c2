package role_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// installs is a setup that leaves a file that is not tracked, changes one that is, and
// counts itself.
const installs = "setup: {command: \"mkdir -p node_modules dist; echo ok > dist/tool; echo changed > README; echo x >> $COUNT\"}\n"

func TestASetupMakesTheTreeReadyForABrainAndForTests(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	e := newEnv(t, map[string]string{
		config:     strings.ReplaceAll(installs, "$COUNT", count) + "test: {command: \"sh check.sh\"}\n",
		"check.sh": "cat dist/tool && echo fine\n",
	})
	r, err := e.do(e.first("developer", "implementing"), thinks(func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
		if text, err := os.ReadFile(filepath.Join(a.Dir, "dist", "tool")); err != nil || string(text) != "ok\n" {
			t.Errorf("the brain finds %q, %v", text, err)
		}
		if len(a.Evidence) != 1 || !a.Evidence[0].OK {
			t.Errorf("the tests of the base said %+v", a.Evidence)
		}
		return writes(map[string]string{"fix": "x"})(ctx, a)
	}))
	if err != nil || e.content("fix", r) != "x" || e.content("dist/tool", r) != "" || e.content("README", r) != "Read this." {
		t.Errorf("it ended with %+v, %v", r, err)
	}
	if text, err := os.ReadFile(count); err != nil || string(text) != "x\nx\n" { // of the base and of the brain
		t.Errorf("it was set up %q, %v", text, err)
	}
	r, err = e.do(e.job("tester", "running_tests", r), saying(instance.Success))
	if err != nil || r.Status != instance.Success || len(r.Evidence) != 1 || !r.Evidence[0].OK {
		t.Errorf("the tests ended with %+v, %v", r, err)
	}
}

func TestTheSetupIsThatOfTheBase(t *testing.T) {
	e := newEnv(t, map[string]string{config: "test: {command: \"test ! -e made\"}\n"})
	r := e.done("developer", "implementing", writes(map[string]string{config: "setup: {command: \"touch made\"}\n"}))
	r, err := e.do(e.job("tester", "running_tests", r), saying(instance.Success))
	if err != nil || r.Status != instance.Success {
		t.Errorf("the tests ended with %+v, %v", r, err)
	}
}

func TestASetupThatFailsStopsTheWorkBeforeABrainIsAsked(t *testing.T) {
	for name, c := range map[string]struct{ content, says string }{
		"it exits":        {"setup: {command: \"echo no registry; exit 3\"}\n", "echo no registry; exit 3: exit code 3\n\nno registry"},
		"it is too slow":  {"setup: {command: \"sleep 60\", timeout: 100ms}\n", "stopped after 100ms (wall time limit)"},
		"it has no words": {"setup: {timeout: 1s}\n", "setup has no command"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, map[string]string{config: c.content})
			unasked := thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) {
				t.Error("the brain was asked")
				return brain.Outcome{}, nil
			})
			_, err := e.do(e.job("developer", "implementing"), unasked)
			var people *agent.ErrEscalate
			if !errors.As(err, &people) || !people.RequiresHuman || !strings.HasPrefix(people.Reason, "the setup of .signalbox.yaml fails: ") ||
				!strings.Contains(people.Reason, c.says) {
				t.Fatalf("it ended with %v", err)
			}
			said := e.job("developer", "implementing")
			said.Escalations = []instance.Escalation{{Reason: people.Reason, RequiresHuman: true, Resolved: true, Resolution: "go on"}}
			var warned []string
			_, err = e.do(said, thinks(func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
				warned = a.Warnings
				return writes(map[string]string{"a": "b"})(ctx, a)
			}))
			if err != nil || len(warned) != 1 || !strings.Contains(warned[0], "fails, as people know") {
				t.Errorf("after people said so it ended with %v; the brain was warned of %q", err, warned)
			}
		})
	}
}
