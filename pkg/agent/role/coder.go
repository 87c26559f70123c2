// Package role is what the roles that work on code do with an assignment. That is a work
// tree, the tests, a brain, and a check of what it left.
package role

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Coder is a role that works on code, any. It implements agent.Handler.
type Coder struct {
	Duties    map[string]workflow.WorkSpec // by state: what --duty says of states that say nothing
	Brains    Brains
	Pause     time.Duration // before a brain that failed is tried again; 0: a second, then four times as long
	Workspace *workspace.Cache
	Objects   workspace.Objects
	Sandbox   sandbox.Sandbox
	Document  Document       // nil: none of its lifecycles has one
	Rules     outbound.Rules // what may leave the work tree
	Baselines *Baselines     // nil: the tests of a base are counted for each run
	// QuickTests is how long a run of all tests may take. Where it takes longer, new tests that
	// have to fail on the code as it is are run by name.
	QuickTests time.Duration
	Secrets    *secret.Scanner // finds what is taken out of artifacts; nil: nothing is
	Caches     Caches          // of tools, where commands are confined
	Layers     string          // directory of the prepared environments; empty: none are
	Egress     egress.List     // hosts that tests can reach
	Limits     sandbox.Limits  // of tests
	Log        *slog.Logger    // nil: nothing is logged
}

// Work implements agent.Handler.
func (c Coder) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	asks := c.asks(job.Assignment)
	c.Rules.Forbidden = slices.Concat(c.Rules.Forbidden, job.Issue.Configured().Protect)
	think, err := c.Brains.Permitted(job.State, asks, job.Issue.Configured())
	if errors.Is(err, errForbidden) {
		return instance.Result{}, &agent.ErrEscalate{Reason: err.Error(), RequiresHuman: true}
	}
	if err != nil {
		// An operator has to mend it; the work has not been tried.
		return instance.Result{}, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	if q := job.Question; q != nil && q.RunOnly && asks.Runs == workflow.RunsCriteria {
		think = rules.Unchanged{}
	}
	s := step{Coder: c, job: job, asks: asks, think: think, ready: map[*workspace.Tree]bool{}, layers: map[*workspace.Tree]prepared{}}
	a := job.Assignment
	if a.Base == "" {
		if asks.NeedsCode() {
			return instance.Result{Status: instance.Blocked, Summary: "there is no code: the instance was opened without a repository"}, nil
		}
		return s.run(ctx)
	}
	if s.tree, err = c.Workspace.Checkout(ctx, spec(job, a.Head)); err != nil {
		return instance.Result{}, err
	}
	defer func() { s.close(s.tree) }()
	if absent := s.tree.Absent(); len(absent) > 0 {
		job.Progress("without the submodules %s, whose files are not to be had", brief(absent))
	}
	return s.run(ctx)
}

// asks is what the state says its work is or, if it says nothing, what --duty says.
func (c Coder) asks(a brain.Assignment) workflow.WorkSpec {
	if a.Work == (workflow.WorkSpec{}) && a.Question == nil {
		return c.Duties[a.State]
	}
	return a.Work
}

// step is one piece of a coder's work.
type step struct {
	Coder
	job   agent.Job
	asks  workflow.WorkSpec
	think brain.Brain
	tree  *workspace.Tree          // nil: there is no code
	ready map[*workspace.Tree]bool // whether it could be set up, by tree; none: it was not tried

	layers map[*workspace.Tree]prepared // the environment of a tree; none: it was not prepared
}

// close removes a tree. The result is as good without; Sweep tries again.
func (s step) close(t *workspace.Tree) {
	delete(s.ready, t)
	delete(s.layers, t)
	if err := t.Close(); err != nil {
		s.job.Progress("a work tree stays behind: %v", err)
	}
}

func (s *step) run(ctx context.Context) (instance.Result, error) {
	a := s.job.Assignment
	if b := s.budget(); !rules.Free(s.think) && b.err() != nil {
		return instance.Result{}, &agent.ErrEscalate{Reason: s.more(ctx, b, instance.Cost{}).Reason, RequiresHuman: true}
	}
	var evidence []instance.Evidence
	if s.tree != nil {
		a.Dir, a.Shared = s.tree.Dir, s.tree.Shared
		var err error
		if evidence, err = s.check(ctx); err != nil {
			return instance.Result{}, err
		}
	}
	if evidence != nil {
		a.Evidence = evidence
		s.flaky(ctx, evidence)
	}
	var base []instance.Evidence
	if s.untried() {
		var err error
		if base, err = s.tryBase(ctx, &a); err != nil {
			return instance.Result{}, err
		}
	}
	if err := s.setUpToThink(ctx, &a); err != nil {
		return instance.Result{}, err
	}
	var err error
	if a.Brief, err = s.brief(ctx); err != nil {
		return instance.Result{}, err
	}
	s.job.Progress("thinking")
	out, err := s.attempt(ctx, a)
	s.told(ctx, out)
	s.used(ctx, a.Brief.Learnings, out.Asked)
	if err == nil {
		s.learned(ctx, out)
		out = s.waits(ctx, out)
		out, err = s.idle(ctx, out)
	}
	result := s.judgement(ctx, out)
	for _, text := range []struct {
		kind string
		text []byte
	}{{"prompt", out.Asked}, {"log", out.Output}} {
		if len(text.text) == 0 {
			continue
		}
		artifact, perr := s.keep(ctx, s.job, text.kind, text.text)
		if perr != nil {
			return result, perr
		}
		result.Artifacts = append(result.Artifacts, artifact)
	}
	switch {
	case errors.Is(err, errBrain):
		return s.unjudged(result, slices.Concat(evidence, base), err), nil
	case err != nil:
		return result, err
	}
	result.Evidence = evidence
	result, err = s.conclude(ctx, out, result)
	if err == nil && result.Head != "" {
		out, err = s.shape(ctx, out)
	}
	result.Evidence = append(slices.Clip(result.Evidence), base...) // it judges nothing
	return result, needsOthers(out, result, err)
}

// conclude holds the judgement against what can be seen, takes over what the
// brain left, and completes what the lifecycle's document has of it.
func (s step) conclude(ctx context.Context, out brain.Outcome, r instance.Result) (instance.Result, error) {
	files, r, err := s.takeOver(ctx, out, r)
	if err == nil && !out.Pauses() {
		r, err = given(s.Document).Complete(s.job.Assignment, files, r)
	}
	if err != nil {
		r.Head, r.Bundle, r.Sections = "", "", nil // what a failed step left is not handed on
	}
	return r, err
}

// takeOver collects what the brain left in the tree. It also returns the files
// that the whole work changes.
func (s step) takeOver(ctx context.Context, out brain.Outcome, r instance.Result) ([]work.FileChange, instance.Result, error) {
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
	r, err = s.collect(ctx, diff, out, r)
	if err == nil && s.asks.Runs == workflow.RunsCriteria && r.Status == instance.Success && !out.Pauses() {
		r, err = s.accept(ctx, r)
	}
	if err == nil && !out.Pauses() {
		r, err = s.red(ctx, r)
	}
	if err == nil {
		diff, err = s.tree.Change(ctx)
	}
	return changes(diff), r, err
}

// spec is the job's code at a commit.
func spec(job agent.Job, head string) workspace.Spec {
	repo := job.Issue.Repo
	if repo == "" {
		repo = job.Instance // an instance that is on no forge is its own
	}
	s := workspace.Spec{Repo: repo, Base: job.Base, Head: head}
	for _, b := range job.Bundles {
		s.Bundles = append(s.Bundles, b.Object)
	}
	return s
}
