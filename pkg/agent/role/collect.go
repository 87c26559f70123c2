package role

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// collect takes over what the brain left in the tree, and returns the files that the whole work
// changes. Where changes are dropped, it holds the result against the evidence.
func (s step) collect(ctx context.Context, out brain.Outcome, r instance.Result) ([]work.FileChange, instance.Result, error) {
	switch {
	case s.tree == nil:
		return nil, r, nil
	case s.asks.DropsChanges():
		r, err := s.judged(out, r)
		return nil, r, err
	}
	defer s.tree.Hold()()
	diff, err := s.tree.Diff(ctx)
	if err != nil {
		return nil, r, err
	}
	s.noteLeftover(ctx)
	if r, err = s.commit(ctx, diff, out, r); err != nil {
		return nil, r, err
	}
	diff, err = s.tree.Change(ctx)
	return changes(diff), r, err
}

// judged holds a brain's word against the evidence: it may doubt a pass, never
// a failure. Where there is none, the word has to be said.
func (s step) judged(out brain.Outcome, r instance.Result) (instance.Result, error) {
	if len(r.Evidence) == 0 && !out.Declared && !out.Pauses() {
		return r, fmt.Errorf("%s gives no judgement: it has to state a result", s.job.Role)
	}
	for _, ev := range r.Evidence {
		if ev.OK {
			continue
		}
		if r.Status == instance.Success {
			r.Status = instance.Failure
		}
		r.FailureSignature = testrun.Signature(ev)
	}
	return r, nil
}

// commit commits a change that may leave the work tree. An outcome that asks or escalates hands
// over what there is so far.
func (s step) commit(ctx context.Context, diff workspace.Diff, out brain.Outcome, r instance.Result) (instance.Result, error) {
	if r.Status != instance.Success && !out.Pauses() {
		return r, nil // what a failed step left is not handed on
	}
	if diff.Empty() {
		return r, s.unchanged(out, r)
	}
	found, err := s.broken(ctx, diff)
	if err != nil {
		return r, err
	}
	if len(found) > 0 {
		r.IssuesFound = append(r.IssuesFound, found...)
		return r, fmt.Errorf("the change may not leave the work tree: %s", strings.Join(found, "; "))
	}
	head, moved, err := s.tree.Commit(ctx, message(s.job, r), trailers(s.job, out.Result.Spend.Brain)...)
	if err != nil || !moved {
		return r, err
	}
	if r.Bundle, err = s.tree.Bundle(ctx); err != nil {
		return r, err
	}
	r.Head = head
	s.job.Progress("%s", diff)
	return r, nil
}

// noteLeftover notes what a program left for itself and is no part of the change.
func (s step) noteLeftover(ctx context.Context) {
	left, err := s.tree.Leftover(ctx)
	if err == nil && len(left) > 0 {
		err = s.job.Note(ctx, "warning", "left in the work tree and no part of the change, as the base tracks none of it: "+printable(strings.Join(left, ", ")))
	}
	if aside := s.tree.Aside(); err == nil && aside != "" {
		err = s.job.Note(ctx, "warning", aside)
	}
	if err != nil {
		s.job.Progress("the files left in the work tree cannot be noted: %v", err)
	}
}

// broken lists the rules that a change breaks.
func (s step) broken(ctx context.Context, diff workspace.Diff) ([]string, error) {
	violations, err := s.tree.Check(ctx, s.Rules)
	if err != nil {
		return nil, err
	}
	var found []string
	if s.Document != nil {
		found = s.Document.Broken(s.job.Assignment, changes(diff))
	}
	for _, v := range violations {
		found = append(found, v.String())
	}
	return found, nil
}

// unchanged judges a success, or a question to others, without a change. An answer is
// something too.
func (s step) unchanged(out brain.Outcome, r instance.Result) error {
	answers := s.job.Question != nil && s.asks.Runs != workflow.RunsCriteria
	switch {
	case out.Pauses():
		return nil
	case answers && strings.TrimSpace(r.Summary) == "":
		return fmt.Errorf("%s was asked and gave no answer", s.job.Role)
	case answers:
		return nil
	case s.untested():
		s.job.Progress("no further change; the current commit was not tested yet")
		return nil
	case s.mayBeFlake():
		s.job.Progress("no further change; the tests that failed are run again")
		return nil
	case !out.Declared || s.asks.Change == workflow.ChangeRequired:
		return fmt.Errorf("%s reports success and %s%s", s.job.Role, leftNoChange, s.stillOpen())
	}
	return nil
}

// leftNoChange is what a failed step says that was to change something.
const leftNoChange = "left no change"

// mayBeFlake reports whether tests ran on the commit that the work is at, and failed there.
// A role that finds nothing to change may be right: a flake can fail each time that a test is run
// again. The limits of the lifecycle bound how often that is believed.
func (s step) mayBeFlake() bool {
	if s.tree == nil || s.tree.Head == s.tree.Base {
		return false
	}
	return slices.ContainsFunc(s.job.Evidence, func(ev instance.Evidence) bool {
		judges := ev.Name == testrun.Name || ev.Name == testrun.Acceptance && s.asks.Runs == workflow.RunsCriteria
		return judges && !ev.OK && ev.Judgement != nil && ev.Commit == s.tree.Head
	})
}

// stillOpen returns the obstacle that kept the work from being accepted before, "" if nothing did.
func (s step) stillOpen() string {
	for _, ev := range s.job.Evidence {
		if ev.Name == testrun.Acceptance && s.asks.Runs == workflow.RunsCriteria && ev.EffectiveVerdict() == instance.VerdictFail {
			return "; before that, " + notAccepted(ev)
		}
		if ev.Name == testrun.Name && !ev.OK && ev.Commit == s.job.Head && len(ev.Failed) > 0 {
			return fmt.Sprintf("; still open: %d tests fail, among them %s", len(ev.Failed), oneLine(ev.Failed[0]))
		}
	}
	return ""
}

// untested reports whether the newest commits are this role's own, of an earlier step, and
// no evidence is about them.
func (s step) untested() bool {
	if len(s.job.Bundles) == 0 {
		return false
	}
	last := s.job.Bundles[len(s.job.Bundles)-1]
	return last.Role == s.job.Role && last.Head == s.job.Head &&
		!slices.ContainsFunc(s.job.Evidence, func(ev instance.Evidence) bool { return ev.Commit == last.Head })
}

// trailers end a step's commit message. By the policy assisted_by they name the brain.
func trailers(job agent.Job, brain string) []string {
	all := []string{"Signalbox-Instance: " + job.Instance, "Signalbox-State: " + job.State}
	if fmt.Sprint(job.Policy["assisted_by"]) == "true" && sanitize.AssistedBy(brain) {
		all = append(all, "Assisted-by: "+brain)
	}
	return all
}

// message is a step's commit message. Forges read it once it is pushed.
func message(job agent.Job, r instance.Result) string {
	subject := sanitize.Lines(strings.TrimSpace(r.Summary))[0]
	if subject == "" || len(subject) > 72 || outbound.StatesTrailer(subject) {
		subject = job.State + ": " + job.Issue.Title
	}
	return sanitize.Subject(subject)
}
