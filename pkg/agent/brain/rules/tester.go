package rules

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Tester judges test evidence. It writes no tests: where tests are asked for it
// relies on those that the repository has, and says so.
type Tester struct{}

// ErrNoEvidence means that the tests were to be judged and were not run.
var ErrNoEvidence = errors.New("no test evidence to judge")

// reliance is how sure the tester is that tests it did not write cover the issue.
const reliance = 0.5

// Work implements brain.Brain.
func (Tester) Work(_ context.Context, a brain.Assignment) (brain.Outcome, error) {
	if a.Question != nil {
		return CannotAnswer(a), nil
	}
	if a.Work.Does == workflow.WriteTests {
		r, err := rely(a)
		return declared(r), err
	}
	ev := newest(a)
	if ev.Name == "" && !enabled(a, "require_tests", true) {
		return declared(instance.Result{Status: instance.Success, Summary: "There are no tests, and the policy asks for none."}), nil
	}
	if ev.Name == "" || a.Head != "" && ev.Commit != a.Head {
		return brain.Outcome{}, fmt.Errorf("%w: %s wants it on commit %s, there is one on %q", ErrNoEvidence, a.State, a.Head, ev.Commit)
	}
	return declared(Judge(ev)), nil
}

// Judge is the result that test evidence stands for. Tests that could not run
// for want of something the work cannot give are blocked, not failed.
func Judge(ev instance.Evidence) instance.Result {
	r := instance.Result{Status: instance.Failure, FailureSignature: testrun.Signature(ev), IssuesFound: ev.Failed}
	reason, _, _ := strings.Cut(ev.Output, "\n")
	switch n := len(ev.Failed); {
	case ev.OK && ev.Passed > 0:
		r.Status, r.ConfidenceScore, r.Summary = instance.Success, 1, Sentence(passes(ev.Passed))
	case ev.OK:
		r.Status, r.ConfidenceScore, r.Summary = instance.Success, 0.9, Sentence(code(ev.Command)+" passes")
	case testrun.CouldNotRun(ev):
		r.Status, r.Summary, r.IssuesFound = instance.Blocked, Sentence("Tests "+reason), []string{reason}
	case n > 0:
		r.Summary = failing(n, n+ev.Passed) + ": " + names(ev.Failed)
	case ev.Command == "":
		r.Summary, r.IssuesFound = Sentence(reason), []string{reason}
	default:
		r.IssuesFound = []string{fmt.Sprintf("%s fails with exit code %d", ev.Command, ev.ExitCode)}
		r.Summary = strings.TrimSuffix(r.IssuesFound[0]+": "+excerpt(reason), ": ")
	}
	if found := ev.Data[work.Findings]; found != "" {
		r.IssuesFound = append(slices.Clone(r.IssuesFound), found)
	}
	return judged(ev, r)
}

// judged says in a result what the comparison with the base says.
func judged(ev instance.Evidence, r instance.Result) instance.Result {
	j := ev.Judgement
	switch {
	case j == nil:
		return r
	case !ev.OK:
		if reason, _, _ := strings.Cut(ev.Output, "\n"); reason != "" && len(ev.Failed) > 0 {
			r.Summary = fmt.Sprintf("%s: %s", failing(len(ev.Failed), ev.Passed+len(ev.Failed)), Sentence(excerpt(reason)))
		}
		if j.Question != "" {
			r.IssuesFound = append(slices.Clone(r.IssuesFound), j.Question)
		}
		return r
	case j.Shown:
		r.Summary = fmt.Sprintf("%s failed on %.10s and passes now. ", j.Tests[0].Name, j.Base) + r.Summary
	default:
		r.Summary = "Unproven: " + Sentence(j.Unproven) + " " + r.Summary
	}
	if n := j.BaseFailures.Len(); n > 0 {
		r.Summary += fmt.Sprintf(" %s before the change, too.", count(n, "test")+" failed")
	}
	if len(j.Flaky) > 0 {
		r.Summary += " " + j.Flaky[0].Name + " is flaky."
	}
	return r
}

// failing says how many tests of all fail.
func failing(n, all int) string {
	switch {
	case all == 1:
		return "the only test fails"
	case n == 1:
		return fmt.Sprintf("1 of %d tests fails", all)
	}
	return fmt.Sprintf("%d of %d tests fail", n, all)
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// maxNamed is how many failing tests a summary names.
const maxNamed = 5

func names(failed []string) string {
	if more := len(failed) - maxNamed; more > 0 {
		return strings.Join(failed[:maxNamed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(failed, ", ")
}

// rely finds the tests that there are.
func rely(a brain.Assignment) (instance.Result, error) {
	plan, err := plan(a.Dir)
	switch {
	case errors.Is(err, testrun.ErrNoTests) && !enabled(a, "require_tests", true):
		return instance.Result{
			Status: instance.Success, Summary: "Wrote no tests: the repository has none, and the policy does not ask for them.",
		}, nil
	case err != nil:
		return instance.Result{Status: instance.Blocked, Summary: "Cannot test this: " + err.Error(), IssuesFound: []string{err.Error()}}, nil
	}
	if r, ok, err := reproduction(a, plan); ok || err != nil {
		return r, err
	}
	s := "Wrote no tests, which takes more than rules; relies on the existing "
	if ev := newest(a); ev.Passed+len(ev.Failed) > 0 {
		s += fmt.Sprintf("%d ", ev.Passed+len(ev.Failed))
	}
	return instance.Result{
		Status: instance.Success, ConfidenceScore: reliance, Summary: s + "tests that " + code(plan.Command()) + " runs.",
		Data: map[string]string{"tests": plan.Command()},
	}, nil
}

func plan(dir string) (testrun.Plan, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return testrun.Plan{}, err
	}
	defer root.Close()
	return testrun.Detect(root.FS())
}
