package role

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/document/prd"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

// accept runs the acceptance criteria on the commit that the step leaves, in a work tree of
// its own. What the brain left beside the commit does not count (story lifecycle, pending
// to committed). What does not pass them is handed on all the same, for the next try to go
// on from.
func (s step) accept(ctx context.Context, r instance.Result) (instance.Result, error) {
	tree, err := s.Workspace.Checkout(ctx, spec(s.job, cmp.Or(r.Head, s.tree.Head)))
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

// notAccepted says what keeps work from being accepted.
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
