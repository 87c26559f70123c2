package role

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/document/prd"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// prove runs what the work has to pass once it is done: the acceptance criteria, and the tests
// that it has written, which have to fail on the code as it is.
func (s step) prove(ctx context.Context, out brain.Outcome, r instance.Result) (_ instance.Result, err error) {
	if s.tree == nil || s.asks.DropsChanges() || out.Pauses() {
		return r, nil
	}
	if s.asks.Runs == workflow.RunsCriteria && r.Status == instance.Success {
		if r, err = s.accept(ctx, r); err != nil {
			return r, err
		}
	}
	if s.asks.Does == workflow.WriteTests && r.Status == instance.Success {
		return s.red(ctx, r)
	}
	return r, nil
}

// accept runs the acceptance criteria on the commit that the step leaves, in a work tree of
// its own. Files that the brain left outside the commit do not count (story lifecycle, pending
// to committed). Work that does not pass them is handed on all the same, for the next try to go
// on from.
func (s step) accept(ctx context.Context, r instance.Result) (instance.Result, error) {
	tree, err := s.checkout(ctx, cmp.Or(r.Head, s.tree.Head))
	if err != nil {
		return r, err
	}
	defer s.close(tree)
	commands, bad := criteria(s.job.Assignment)
	var ev instance.Evidence
	switch {
	case bad != nil:
		ev = instance.Evidence{
			Name: testrun.Acceptance, Commit: tree.Head, ExitCode: -1, Output: bad.Error(),
			Failed: []string{"the acceptance criteria cannot be read"},
		}
	case len(commands) == 0:
		if r.Evidence, err = s.examine(ctx, tree, testrun.Name); err != nil {
			return r, err
		}
		ev = r.Evidence[0]
		ev.Name = testrun.Acceptance
	default:
		if ev, err = s.acceptBy(ctx, tree, commands); err != nil {
			return r, err
		}
	}
	r.Evidence = append(r.Evidence, ev)
	if !ev.OK {
		r.Status, r.FailureSignature = instance.Failure, testrun.Signature(ev)
		r.IssuesFound = append(r.IssuesFound, notAccepted(ev))
		r.Summary = strings.TrimSpace(r.Summary + "\n\nBut " + r.IssuesFound[len(r.IssuesFound)-1] + ".")
	}
	return r, nil
}

// notAccepted returns the obstacle that keeps work from being accepted.
func notAccepted(ev instance.Evidence) string {
	if strings.HasPrefix(ev.Output, testrun.ErrNoTests.Error()) {
		return "no acceptance criterion is a command, so the repository's tests are the criterion: " + ev.Output
	}
	return strings.TrimSuffix("not all acceptance criteria pass: "+strings.Join(ev.Failed, ", "), ": ")
}

// acceptBy runs commands on the tree, as the gate has it.
func (s step) acceptBy(ctx context.Context, tree *workspace.Tree, commands []string) (instance.Evidence, error) {
	var plans []testrun.Plan
	for _, command := range commands {
		plans = append(plans, testrun.Shell(command))
	}
	base, err := s.base(ctx, tree)
	if err != nil {
		return instance.Evidence{}, err
	}
	if base != tree {
		defer s.close(base)
	}
	g, err := s.gate(ctx, tree, base, plans)
	if err != nil {
		return instance.Evidence{}, err
	}
	defer g.close()
	if g.refused {
		return g.evidence(tree.Head, testrun.Plan{Check: testrun.Acceptance, Tool: "configured", Argv: commands}), nil
	}
	return s.compare(ctx, comparison{gate: g, tree: tree, base: base, command: strings.Join(commands, ", "), runs: s.byCriteria(plans),
		plans: plans, criteria: true})
}

// byCriteria runs acceptance criteria. Each is a test of the plan, which people wrote, and
// all have to pass.
func (s step) byCriteria(plans []testrun.Plan) runs {
	return func(ctx context.Context, tree *workspace.Tree, commit string, _ []string) (instance.Evidence, verdict.Run, bool, error) {
		ev, err := testrun.Accept(ctx, tree.Dir, commit, plans, s.runner(tree))
		run := verdict.Run{Commit: commit, Command: "the acceptance criteria", OK: ev.OK, Named: true, Output: ev.Output}
		for _, plan := range plans {
			t := verdict.Test{Name: plan.Command(), Outcome: verdict.Pass}
			if slices.Contains(ev.Failed, t.Name) {
				t.Outcome, t.Output = verdict.Fail, outputOf(t.Name, ev.Output)
				t.Cause, t.Missing = verdict.CauseOf(t.Output), verdict.MissingIn(t.Output)
			}
			run.Tests = append(run.Tests, t)
		}
		slices.SortFunc(run.Tests, func(a, b verdict.Test) int { return strings.Compare(a.Name, b.Name) })
		run.Tests = slices.CompactFunc(run.Tests, func(a, b verdict.Test) bool { return a.Name == b.Name })
		return ev, run, false, err
	}
}

// outputOf is what one criterion printed.
func outputOf(name, all string) string {
	_, out, _ := strings.Cut(all, "--- FAIL: "+name+"\n")
	out, _, _ = strings.Cut(out, "--- FAIL: ")
	return strings.TrimSpace(out)
}

// criteria lists the commands among the acceptance criteria of the story. None
// means that the repository's own tests are the criterion. They are what the
// plan says, never what a change or the text of an issue says.
func criteria(a brain.Assignment) ([]string, error) {
	text := string(a.Sections[story])
	if text == "" {
		text = a.Vars[story]
	}
	if text == "" {
		return nil, nil
	}
	s, err := prd.ParseStory(text)
	if err != nil {
		return nil, fmt.Errorf("the story cannot be read: %w", err)
	}
	return s.Commands(), nil
}

// story is the section of the document, or else the variable, that has the
// story as its plan file has it.
const story = "story"

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
	if written || policy == "" || policy == redNever {
		return r, nil
	}
	tree, err := s.checkout(ctx, cmp.Or(r.Head, s.tree.Head))
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
	if r.Head != "" && s.free && !(failing && asserts(run)) {
		// The test that rules made of the report does not fail by an assertion: the report is not
		// right, or not read right. The step relies on the other tests.
		r.Head, r.Bundle, r.ConfidenceScore, failing = "", "", 0.5, false
		r.Summary = "Wrote no tests: the call that the report names does not fail on the code as it is. Relies on the existing tests."
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
// Where none of them fails by an assertion, or they cannot be distinguished from the others, it runs all.
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
