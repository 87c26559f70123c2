package role

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
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
	ev, run, err := s.seeFail(ctx, tree, w.plan)
	if err != nil {
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

// seeFail runs the tests that the base has not, where the runner can list and select them.
// Where none of them fails by an assertion, or they cannot be told from the others, it runs all.
func (s step) seeFail(ctx context.Context, tree *workspace.Tree, plan testrun.Plan) (instance.Evidence, verdict.Run, error) {
	names, err := s.newTests(ctx, tree, plan)
	if err != nil {
		return instance.Evidence{}, verdict.Run{}, err
	}
	if only, ok := plan.Only(names); ok && len(names) > 0 {
		s.job.Progress("running %s, to see a test fail", brief(names))
		ev, run, err := testrun.Run(ctx, tree.Dir, tree.Head, only, s.runner(tree))
		if err != nil {
			return ev, run, err
		}
		if run.Only = names; asserts(run) {
			return ev, run, s.keepProof(ctx, tree, plan, names, madeRun{ev: ev, run: run, plan: plan})
		}
	}
	s.job.Progress("running %s, to see a test fail", plan.Command())
	ev, run, err := testrun.Run(ctx, tree.Dir, tree.Head, plan, s.runner(tree))
	if err != nil {
		return ev, run, err
	}
	return ev, run, s.keepProof(ctx, tree, plan, nil, madeRun{ev: ev, run: run, plan: plan})
}

// quickTests is how long all tests may take before new ones are run by name: to list them and
// to start the runner twice takes about that.
const quickTests = 3 * time.Second

// maxNewTests is how many new tests are run by name. A run of all is as cheap for more.
const maxNewTests = 20

// newTests lists the tests of a tree that the base has not, at most maxNewTests. It lists none
// if the runner cannot, or if a run of all tests is so quick that a list saves nothing.
func (s step) newTests(ctx context.Context, tree *workspace.Tree, plan testrun.Plan) ([]string, error) {
	if tree.Head == tree.Base {
		return nil, nil
	}
	before, err := s.baseline(ctx, nil, plan)
	if err != nil || before.took < s.QuickTests {
		return nil, err
	}
	listed, ok, err := testrun.List(ctx, tree.Dir, plan, s.runner(tree))
	if err != nil || !ok {
		return nil, err
	}
	known := map[string]bool{}
	for _, t := range before.run.Tests {
		known[t.Name] = true
	}
	listed = slices.DeleteFunc(listed, func(name string) bool { return known[name] })
	if len(listed) > maxNewTests {
		return nil, nil
	}
	return listed, nil
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

// keepProof keeps a run of the tests that a step wrote, of these names or of all, for the
// comparison that follows.
func (s step) keepProof(ctx context.Context, tree *workspace.Tree, plan testrun.Plan, only []string, made madeRun) error {
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
	s.Baselines.put(s.contentKey(tree.Base, plan.Command(), versions, only), made)
	return nil
}
