package role

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// untried reports whether the brain costs something, and no role has written code yet in a
// lifecycle that runs tests, and the log has no run of them. Then they are run before the brain is.
func (s step) untried() bool {
	written := slices.ContainsFunc(s.job.Bundles, func(b instance.Bundle) bool { return slices.Contains(s.job.Writers, b.Role) })
	begun := s.tree != nil && s.tree.Head != s.tree.Base && (written || len(s.job.Writers) == 0)
	return s.tree != nil && !begun && s.job.Question == nil && !s.asks.Tests() && slices.Contains(s.job.Checks, testrun.Name) && !s.free &&
		!slices.ContainsFunc(s.job.Evidence, func(ev instance.Evidence) bool { return ev.Name == work.Base && ev.Commit == s.tree.Base })
}

// tried is the outcome of the tests on the code before any change.
type tried struct {
	shown    []instance.Evidence // to the brain
	recorded []instance.Evidence // with the result; none if the log has it, or the role writes the code
	warnings []string            // for the brain
}

// tryBase runs the tests on the code as nobody has changed it. Tests that cannot run
// would judge no change: people are asked, by an *agent.ErrEscalate. The brain is warned of
// failing tests, and of none.
func (s step) tryBase(ctx context.Context) (tried, error) {
	if !s.untried() {
		return tried{}, nil
	}
	base, err := s.base(ctx, s.tree)
	if err != nil {
		return tried{}, err
	}
	if base == s.tree {
		base = nil // the brain's: the tests run in one of their own
	} else {
		defer s.close(base)
	}
	dir := s.tree.Dir
	if base != nil {
		dir = base.Dir
	}
	w := detect(dir, []string{testrun.Name})[0]
	switch {
	case errors.Is(w.err, brain.ErrInfrastructure):
		return tried{}, w.err
	case errors.Is(w.err, testrun.ErrNoTests):
		return tried{warnings: []string{w.err.Error()}}, nil
	case w.err != nil:
		warnings, err := s.obstructed(cannotRun, w.err.Error())
		return tried{warnings: warnings}, err
	}
	made, err := s.baseline(ctx, base, w.plan)
	if err != nil {
		return tried{}, err
	}
	return s.assess(ctx, w.plan.Command(), made)
}

// assess decides whether a run of the tests on the base can judge a change, and what the brain
// is shown of it.
func (s step) assess(ctx context.Context, command string, made madeRun) (t tried, err error) {
	ev := made.ev
	obstacle := testrun.Obstacle(ev)
	if obstacle != "" && testrun.NothingTested(ev) && (s.asks.Does == workflow.WriteTests || !s.testsRequired()) {
		t.warnings = []string{obstacle} // tests are to be written, or none are asked for
	} else if obstacle != "" {
		t.warnings, err = s.obstructed(cannotRun, fmt.Sprintf("%s\n\nThis was run on %.10s: %s%s", obstacle, ev.Commit, ev.Command, ending(made.run.Output)))
		return t, err
	} else if unsteady, err := s.unsteady(ctx, command, made); err != nil {
		return t, err
	} else if unsteady != "" {
		if t.warnings, err = s.obstructed(cannotJudge, unsteady); err != nil {
			return t, err
		}
	}
	ev.Name = work.Base
	t.shown = []instance.Evidence{ev}
	if !ev.OK {
		t.warnings = append(t.warnings, fmt.Sprintf("%s fails on the code as it is, before any change", ev.Command))
		s.job.Progress("%s fails before any change", ev.Command)
	}
	if !slices.Contains(s.job.Writers, s.job.Role) { // no evidence comes from who writes the code
		t.recorded = t.shown
	}
	return t, nil
}

// cannotRun begins the question about tests that cannot run, and cannotJudge the one about tests
// that run and decide nothing.
const (
	cannotRun   = "the tests cannot be run on the code as it is, before any change: "
	cannotJudge = "the tests cannot judge any change: "
)

// maxEnding is how many lines, and runes, of an output people are shown with a question.
const (
	maxEnding      = 12
	maxEndingRunes = 1500
)

// ending is the end of an output, for people; "" of none.
func ending(output string) string {
	lines := strings.Split(strings.TrimSpace(printable(output)), "\n")
	end := []rune(strings.Join(lines[max(0, len(lines)-maxEnding):], "\n"))
	if len(end) == 0 {
		return ""
	}
	return "\nIt printed last:\n\n" + string(end[max(0, len(end)-maxEndingRunes):])
}

// obstructed puts the obstacle to people, once: what they say to it lets the work go on,
// and it returns the warning for the brain.
func (s step) obstructed(beginning, obstacle string) (warnings []string, err error) {
	obstacle += s.layers[nil].failed
	if s.toldOf(beginning) {
		return []string{beginning + obstacle}, nil
	}
	return nil, &agent.ErrEscalate{Reason: beginning + obstacle, RequiresHuman: true}
}

// unsteady returns why no change can be judged by a run of the base that fails and names no
// failing test: a second run ends in another way, so its output is no measure. It is empty
// if the two are alike, or if the run passes or names tests.
func (s step) unsteady(ctx context.Context, command string, made madeRun) (string, error) {
	names := slices.ContainsFunc(made.run.Tests, func(t verdict.Test) bool { return t.Outcome == verdict.Fail })
	if made.ev.OK || names {
		return "", nil
	}
	key := s.contentKey(s.tree.Base, command, nil, nil)
	again, ok := s.Baselines.get(key, 1)
	if !ok {
		tree, err := s.checkout(ctx, s.tree.Base)
		if err != nil {
			return "", err
		}
		defer s.close(tree)
		if err := s.setUp(ctx, tree); err != nil {
			return "", err
		}
		s.job.Progress("running %s on the base again", command)
		ev, run, err := testrun.Run(ctx, tree.Dir, tree.Head, made.plan, s.runner(tree))
		if err != nil {
			return "", err
		}
		again = madeRun{ev: ev, run: run, plan: made.plan}
		s.Baselines.put(key, again)
	}
	was, is := testrun.Steady(made.run.Output), testrun.Steady(again.run.Output)
	if !again.ev.OK && was == is {
		return "", nil
	}
	how := "prints something else each time"
	if again.ev.OK {
		how = "passes in a second run"
	}
	return fmt.Sprintf("%s fails on the code as it is, names no test, and %s. Let it pass there, or print names: TAP, JUnit XML, or the "+
		"output of a known runner. Say in %s which command does: test: {command: \"…\"}\n\nThis was run twice on %.10s.%s",
		command, how, testrun.ConfigFile, made.ev.Commit, ending(again.run.Output)), nil
}

// baseline returns the run of the plan on the base, in the tree base or, if that is nil, in
// one of its own. It is run once by each process, unless it could not be: what was in the
// way may be gone.
func (s step) baseline(ctx context.Context, base *workspace.Tree, plan testrun.Plan) (madeRun, error) {
	key := s.contentKey(s.tree.Base, plan.Command(), nil, nil)
	if made, ok := s.Baselines.get(key, 0); ok {
		return made, nil
	}
	if base == nil {
		own, err := s.checkout(ctx, s.tree.Base)
		if err != nil {
			return madeRun{}, err
		}
		defer s.close(own)
		base = own
	}
	if err := s.setUp(ctx, base); err != nil {
		return madeRun{}, err
	}
	s.job.Progress("running %s on the base", plan.Command())
	start := time.Now()
	ev, run, plan, err := testrun.RunBase(ctx, base.Dir, base.Head, plan, s.runner(base))
	made := madeRun{ev, run, plan, time.Since(start)}
	if err == nil && plan.IsBare() {
		s.job.Progress("%s passes more tests without CI and the other variables that are set here: it runs without", plan.Command())
	}
	if err == nil && testrun.Obstacle(ev) == "" {
		s.Baselines.put(key, made)
	}
	return made, err
}

// madeRun is a run of tests, its evidence, and the plan that made it. The change is run by
// the plan of its base.
type madeRun struct {
	ev   instance.Evidence
	run  verdict.Run
	plan testrun.Plan
	took time.Duration // 0: not measured
}

// Baselines are the runs of tests that a process has made on bases, and on bases with the
// test files of a change. It is safe for concurrent use; a nil one keeps nothing.
type Baselines struct {
	mu   sync.Mutex
	runs map[string][]madeRun // by repository, content and command, in the order they were made
	kept int
}

// maxBaselines bounds the runs that are kept.
const maxBaselines = 1000

// get returns the run that was made after n others of the same key.
func (b *Baselines) get(key string, n int) (madeRun, bool) {
	if b == nil {
		return madeRun{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if n >= len(b.runs[key]) {
		return madeRun{}, false
	}
	return b.runs[key][n], true
}

func (b *Baselines) put(key string, made madeRun) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.runs == nil || b.kept >= maxBaselines {
		b.runs, b.kept = map[string][]madeRun{}, 0
	}
	b.runs[key], b.kept = append(b.runs[key], made), b.kept+1
}
