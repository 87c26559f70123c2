package role

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/verdict"
	"github.com/signalbox/signalbox/pkg/work"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// Values of the policy red_first: when a step that writes tests is believed only if a
// test fails on the code as it is.
const (
	redNever   = "never"
	redWritten = "written" // if it wrote tests
	redAlways  = "always"  // also if it relies on those there are
)

// red runs the tests that a step has written, or relies on, before any role has written
// code for them. Tests that all pass do not show the issue: the step failed.
func (s step) red(ctx context.Context, r instance.Result) (instance.Result, error) {
	policy, _ := s.job.Policy["red_first"].(string)
	written := slices.ContainsFunc(s.job.Bundles, func(b instance.Bundle) bool { return slices.Contains(s.job.Writers, b.Role) })
	if s.asks.Does != workflow.WriteTests || r.Status != instance.Success || written || policy == "" || policy == redNever {
		return r, nil
	}
	tree, err := s.Workspace.Checkout(ctx, spec(s.job, cmp.Or(r.Head, s.tree.Head)))
	if err != nil {
		return r, err
	}
	defer s.close(tree)
	w := detect(tree.Dir, []string{testrun.Name})[0]
	switch {
	case errors.Is(w.err, brain.ErrInfrastructure):
		return r, w.err
	case !w.found:
		return r, nil // the judgement says what it thinks of that
	}
	if err := s.setUp(ctx, tree); err != nil {
		return r, err
	}
	s.job.Progress("running %s, to see a test fail", w.plan.Command())
	ev, run, err := testrun.Run(ctx, tree.Dir, tree.Head, w.plan, s.runner(tree))
	if err != nil {
		return r, err
	}
	if err := s.keepProof(ctx, tree, w.plan, madeRun{ev, run, w.plan}); err != nil {
		return r, err
	}
	failing := !ev.OK && !testrun.CouldNotRun(ev)
	if failing && r.Head != "" {
		if failing, err = s.failsAnew(ctx, w.plan, run); err != nil {
			return r, err
		}
	}
	if r.Head != "" && rules.Free(s.think) && !(failing && asserts(run)) {
		r, failing = s.unreproduced(r), false
		ev.Commit = s.tree.Head
	}
	ev.Name, ev.OK, ev.Verdict = work.Red, failing, ""
	r.Evidence = append(slices.Clone(r.Evidence), ev)
	if failing {
		return r, nil
	}
	what := fmt.Sprintf("no test fails as it is: %s passes on %.10s, so nothing shows the issue", ev.Command, ev.Commit)
	switch {
	case len(ev.Failed) > 0:
		what = fmt.Sprintf("no new test fails as it is: on %.10s only tests fail that failed without the new ones, so nothing shows the issue", ev.Commit)
	case ev.ExitCode != 0:
		what = fmt.Sprintf("no test is seen to fail: %s ends with exit code %d on %.10s, with the new tests and without, and names no test; "+
			"mend it there first", ev.Command, ev.ExitCode, ev.Commit)
	}
	if testrun.CouldNotRun(ev) {
		what = "no test is seen to fail: " + ev.Output
	}
	r.IssuesFound = append(slices.Clone(r.IssuesFound), what)
	if policy == redAlways || r.Head != "" {
		r.Status, r.FailureSignature = instance.Failure, "no test fails"
		r.Head, r.Bundle = "", "" // what a failed step left is not handed on
		r.Evidence[len(r.Evidence)-1].Commit = s.tree.Head
	}
	return r, nil
}

// unreproduced drops the test that rules made of the report, because it does not fail by an
// assertion: the report is not right, or not read right. The step relies on the other tests.
func (s step) unreproduced(r instance.Result) instance.Result {
	r.Head, r.Bundle = "", ""
	r.ConfidenceScore = 0.5
	r.Summary = "Wrote no tests: the call that the report names does not fail on the code as it is. Relies on the existing tests."
	return r
}

// asserts reports whether a test of the run fails by an assertion.
func asserts(run verdict.Run) bool {
	return slices.ContainsFunc(run.Tests, func(t verdict.Test) bool { return t.Outcome == verdict.Fail && t.Cause == verdict.Assertion })
}

// failsAnew reports whether a run of the written tests has a failure that the base has not.
func (s step) failsAnew(ctx context.Context, plan testrun.Plan, run verdict.Run) (bool, error) {
	before, err := s.baseline(ctx, nil, plan)
	if err != nil || before.ev.OK {
		return true, err
	}
	known := map[string]bool{}
	for _, t := range before.run.Tests {
		known[t.Name] = known[t.Name] || t.Outcome == verdict.Fail
	}
	named := false
	for _, t := range run.Tests {
		named = true
		if t.Outcome == verdict.Fail && !known[t.Name] {
			return true, nil
		}
	}
	return !named && testrun.Steady(run.Output) != testrun.Steady(before.run.Output), nil
}

// keepProof keeps a run of the tests that a step wrote, for the comparison that follows.
func (s step) keepProof(ctx context.Context, tree *workspace.Tree, plan testrun.Plan, made madeRun) error {
	names, err := tree.Touched(ctx, tree.Base, tree.Head)
	if err != nil || len(names) == 0 || testrun.CouldNotRun(made.ev) {
		return err
	}
	versions := map[string]workspace.Version{}
	for _, name := range names {
		if versions[name], err = tree.Version(ctx, tree.Head, name); err != nil {
			return err
		}
	}
	s.Baselines.put(s.contentKey(tree.Base, plan.Command(), versions, nil), made)
	return nil
}
