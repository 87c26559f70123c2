package model_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/mcp/mcptest"
	"github.com/signalbox/signalbox/pkg/agent/brain/model"
	"github.com/signalbox/signalbox/pkg/agent/brain/model/modeltest"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestMain(m *testing.M) {
	mcptest.Intercept()
	confine.Intercept()
	if exe, err := os.Executable(); err == nil {
		os.Setenv(confine.Variable, exe)
	}
	goleak.VerifyTestMain(m)
}

// env is a model brain with a scripted model, and a work tree.
type env struct {
	*testing.T
	server *modeltest.Server
	cfg    model.Config
	a      brain.Assignment
	w      watcher
	clock
}

// clock is a time that passes when a person waits.
type clock struct {
	now    time.Time
	paused []time.Duration
}

func (c *clock) Now() time.Time { return c.now }

func (c *clock) Pause(_ context.Context, d time.Duration) error {
	c.now, c.paused = c.now.Add(d), append(c.paused, d)
	return nil
}

// watcher notes what it is shown.
type watcher struct {
	cost    instance.Cost
	charges int
	lines   []string
	refuse  func(brain.Outcome) error
	budget  int // charges after which it is spent; 0: never
}

func (w *watcher) Check(_ context.Context, out brain.Outcome) error {
	if w.refuse == nil {
		return nil
	}
	return w.refuse(out)
}

func (w *watcher) Spend(_ context.Context, c instance.Cost) error {
	w.cost = w.cost.Add(c)
	if w.charges++; w.budget > 0 && w.charges >= w.budget {
		return fmt.Errorf("%w: $5 of $5", brain.ErrBudget)
	}
	return nil
}

func (w *watcher) Progress(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

func (w *watcher) Timed(ctx context.Context, _ string, work func(context.Context) (brain.Outcome, error)) (brain.Outcome, error) {
	return work(ctx)
}

func newEnv(t *testing.T, provider string, script modeltest.Script) *env {
	t.Helper()
	e := &env{T: t, server: modeltest.New(t, script)}
	e.cfg = model.Config{Provider: provider, Name: "m", URL: e.server.URL, Key: "key",
		Cards: model.Cards{{Name: "m", In: 10, Out: 100, Read: 1, Written: 12, Window: 200_000}}, Clock: &e.clock}
	if provider != "anthropic" {
		e.cfg.URL += "/v1"
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "stats.go"), []byte("package stats\n\nfunc Half(n int) int { return n / 3 }\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	e.a = brain.Assignment{Instance: "acme/widgets/42", Role: "developer", State: "implementing", Dir: dir,
		Next: []string{"running_tests"}, Issue: instance.Issue{Title: "Half is a third"}}
	e.a.Work.Change = "required"
	return e
}

func (e *env) work() (brain.Outcome, error) {
	e.Helper()
	b, err := model.New(e.cfg)
	if err != nil {
		e.Fatal(err)
	}
	return b.Watch(e.Context(), e.a, &e.w)
}

// done works, and fails the test on an error.
func (e *env) done() brain.Outcome {
	e.Helper()
	out, err := e.work()
	if err != nil {
		e.Fatalf("%v\n%s", err, out.Output)
	}
	return out
}

func (e *env) file(name string) string {
	e.Helper()
	b, err := os.ReadFile(filepath.Join(e.a.Dir, name))
	if err != nil {
		e.Fatal(err)
	}
	return string(b)
}

// finish is the turn that ends the work well.
func finish() modeltest.Turn {
	return modeltest.Calling("finish", map[string]any{"status": "success", "summary": "halve by two", "confidence_score": 0.9})
}

// fix is the turn that mends the file.
func fix() modeltest.Turn {
	return modeltest.Calling("edit", map[string]any{"path": "stats.go", "old": "n / 3", "new": "n / 2"})
}

// each runs a test with each of the providers.
func each(t *testing.T, test func(t *testing.T, provider string)) {
	for _, p := range model.Providers() {
		t.Run(p, func(t *testing.T) { test(t, p) })
	}
}

func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(text, w) {
			t.Errorf("it does not say %q:\n%s", w, text)
		}
	}
}
