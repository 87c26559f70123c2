package role

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/environment"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// test makes the evidence that is asked for before the brain judges, on the tree's very
// commit. It notes the tests that had both outcomes there.
func (s step) test(ctx context.Context) (all []instance.Evidence, err error) {
	switch {
	case s.tree == nil:
	case s.asks.Runs == workflow.RunsTests:
		all, err = s.examine(ctx, s.tree, testrun.Name)
	case s.asks.Runs == workflow.RunsChecks:
		all, err = s.examine(ctx, s.tree, testrun.Name, testrun.Lint, testrun.TypeCheck)
		all = append(all, testrun.Together(testrun.Build, s.tree.Head, all))
	}
	if err == nil {
		s.noteFlaky(ctx, all)
	}
	return all, err
}

// examine runs checks of the tree, with the tests of the base and of the roles that do not
// write the code. That no way to test it was found is evidence too, unless the policy asks
// for no tests. The other checks a repository need not have.
func (s step) examine(ctx context.Context, tree *workspace.Tree, checks ...string) ([]instance.Evidence, error) {
	base, err := s.base(ctx, tree)
	if err != nil {
		return nil, err
	}
	if base != tree {
		defer s.close(base)
	}
	ways, err := s.ways(ctx, tree, base, checks)
	if err != nil {
		return nil, err
	}
	var plans []testrun.Plan
	for _, w := range ways {
		if errors.Is(w.err, brain.ErrInfrastructure) {
			return nil, w.err
		}
		if w.found {
			plans = append(plans, w.plan)
		}
	}
	g, err := s.gate(ctx, tree, base, plans)
	if err != nil {
		return nil, err
	}
	defer g.close()
	var all []instance.Evidence
	for i, w := range ways {
		switch {
		case errors.Is(w.err, testrun.ErrNoTests) && !s.testsRequired():
			s.job.Progress("there are no tests, and the policy asks for none")
		case w.err != nil:
			all = append(all, instance.Evidence{Name: checks[i], Commit: tree.Head, ExitCode: -1, Output: w.err.Error()})
		case w.found:
			var ev instance.Evidence
			if checks[i] == testrun.Name && base != tree && !g.refused {
				ev, err = s.judgeTests(ctx, comparison{gate: g, tree: tree, base: base, plans: plans}, w.plan)
			} else {
				ev, err = s.runGated(ctx, g, tree.Head, w.plan)
			}
			if err != nil {
				return nil, err
			}
			all = append(all, ev)
		}
	}
	return all, nil
}

// judgeTests compares the tests of a change with those of its base. It takes the judgement that
// the log has of this commit, if that leaves nothing open.
func (s step) judgeTests(ctx context.Context, c comparison, plan testrun.Plan) (instance.Evidence, error) {
	if ev, ran := s.ran(c.tree, plan); ran {
		s.job.Progress("the tests of %.10s ran already, and passed", c.tree.Head)
		return s.settle(c.gate, ev)
	}
	if ev, declined := s.declined(c.tree, plan); declined {
		return ev, nil
	}
	before, err := s.baseline(ctx, c.base, plan)
	if err != nil {
		return instance.Evidence{}, err
	}
	c.before, c.command, c.runs = &before, plan.Command(), s.byPlan(before.plan)
	return s.compare(ctx, c)
}

// ran returns the judgement that the log has of the tree's commit. A role that does not write the
// code has made it, the tests pass, and it leaves no question open. Another run would show nothing more.
func (s step) ran(tree *workspace.Tree, plan testrun.Plan) (instance.Evidence, bool) {
	i := slices.IndexFunc(s.job.Evidence, func(ev instance.Evidence) bool {
		j := ev.Judgement
		return ev.Name == testrun.Name && ev.OK && ev.Commit == tree.Head && ev.Command == plan.Command() &&
			j != nil && j.Base == tree.Base && j.Change == tree.Head && j.Question == "" &&
			ev.Role != "" && len(s.job.Writers) > 0 && !slices.Contains(s.job.Writers, ev.Role)
	})
	if i < 0 {
		return instance.Evidence{}, false
	}
	return s.job.Evidence[i], true
}

// testsRequired is the policy require_tests, true if there is none.
func (s step) testsRequired() bool {
	return fmt.Sprint(s.job.Policy["require_tests"]) != "false"
}

// runGated runs a plan on a commit as the gate has it.
func (s step) runGated(ctx context.Context, g gate, commit string, plan testrun.Plan) (instance.Evidence, error) {
	if g.refused {
		return g.evidence(commit, plan), nil
	}
	if err := s.setUp(ctx, g.tree); err != nil {
		return instance.Evidence{}, err
	}
	s.job.Progress("running %s", plan.Command())
	ev, _, err := testrun.Run(ctx, g.tree.Dir, commit, plan, s.runner(g.tree))
	return ev, err
}

// base checks out the tree's base, or returns the tree if it is at its base.
func (s step) base(ctx context.Context, tree *workspace.Tree) (*workspace.Tree, error) {
	if tree.Head == tree.Base {
		return tree, nil
	}
	return s.checkout(ctx, tree.Base)
}

// way is how a tree is checked, if it is.
type way struct {
	plan  testrun.Plan
	found bool
	err   error
}

// ways is how the tree is checked: as its base was, if that could be. A change
// that redefines how it is tested would be its own judge. Of a repository of several parts, those
// are checked that the work touches.
func (s step) ways(ctx context.Context, tree, base *workspace.Tree, checks []string) ([]way, error) {
	ways := detect(base.Dir, checks)
	if base == tree {
		return ways, nil
	}
	own := detect(tree.Dir, checks)
	for i := range ways {
		if ways[i].err != nil || !ways[i].found {
			ways[i] = own[i]
		}
	}
	if !slices.ContainsFunc(ways, func(w way) bool { return len(w.plan.Parts) > 0 }) {
		return ways, nil
	}
	names, err := tree.Touched(ctx, tree.Base, tree.Head)
	for i := range ways {
		ways[i].plan = ways[i].plan.Touching(names)
	}
	return ways, err
}

// detect finds how the tree in dir is checked, and looks nowhere else.
func detect(dir string, checks []string) []way {
	ways := make([]way, len(checks))
	root, err := os.OpenRoot(dir)
	if err != nil {
		for i := range ways {
			ways[i].err = fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
		}
		return ways
	}
	defer root.Close()
	for i, check := range checks {
		w := &ways[i]
		if check == testrun.Name {
			w.plan, w.err = testrun.Detect(root.FS())
			w.found = w.err == nil
		} else {
			w.plan, w.found, w.err = testrun.DetectCheck(root.FS(), check)
		}
	}
	return ways
}

// runner lets test commands read the tree's borrowed objects, and fill caches that
// the runs of no other instance read. It implements testrun.Runner.
type runner struct {
	box    sandbox.Sandbox
	shared string
	cache  string // empty: it is thrown away after each run
	egress egress.List
	limits sandbox.Limits
	tree   string // its directory
	layers []environment.Layer
	fill   func(context.Context) error // copies the packages of the layers into the tree
}

func (s step) runner(tree *workspace.Tree) runner {
	return runner{s.Sandbox, tree.Shared, s.Caches.checks(s.job.Assignment), s.Egress, s.Limits, tree.Dir, s.layers[tree].layers,
		func(ctx context.Context) error { return s.fill(ctx, tree) }}
}

// Run implements testrun.Runner. A command that writes among packages that are mounted runs again
// with copies of them in its tree.
func (r runner) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	c.Egress, c.Limits, c.Cache = r.egress, r.limits, r.cache
	c.Readable = append(c.Readable, r.shared)
	mounted := c
	environment.Apply(&mounted, r.tree, r.box.Mode(), r.layers)
	res, err := r.box.Run(ctx, mounted)
	if err != nil || res.OK() || len(mounted.Mounts) == len(c.Mounts) || !environment.WritesPackages(res.Output, r.layers) {
		return res, err
	}
	if err := r.fill(ctx); err != nil {
		return res, err
	}
	environment.Apply(&c, r.tree, r.box.Mode(), r.layers)
	return r.box.Run(ctx, c)
}
