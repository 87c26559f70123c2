package role

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/instance"
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
	ev, _, err := testrun.Run(ctx, tree.Dir, tree.Head, w.plan, s.runner(tree))
	if err != nil {
		return r, err
	}
	failing := !ev.OK && !testrun.CouldNotRun(ev)
	ev.Name, ev.OK, ev.Verdict = work.Red, failing, ""
	r.Evidence = append(slices.Clone(r.Evidence), ev)
	if failing {
		return r, nil
	}
	what := fmt.Sprintf("no test fails as it is: %s passes on %.10s, so nothing shows the issue", ev.Command, ev.Commit)
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
