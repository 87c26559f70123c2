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
	Chromium   string          // makes pictures of demonstrations; empty: none are made
	Log        *slog.Logger    // nil: nothing is logged
}

// Work implements agent.Handler. It is the list of its phases, each in the file that is named.
// A phase takes values of the phases before it and returns its own.
//
//	begin         the brain that the repository permits, and a work tree   coder.go, brains.go
//	affordable    the instance has budget left                             budget.go
//	test          the evidence of a role that judges others                test.go
//	tryBase       the tests on the code before any change                  base.go
//	setUpToThink  the setup of the work tree                               setup.go
//	brief         the assignment as the brain gets it                      brief.go
//	think         the outcome of the brain                                 think.go
//	judge         the result without what the role may not state           judge.go
//	collect       the change, as a commit                                  collect.go
//	prove         the acceptance criteria pass, or new tests fail          prove.go
//	report        the result, and the error with what it asks of others    report.go
//
// An error ends the list. A brain that failed is reported as work that nobody judged, and what
// an outcome asks of others is reported whatever became of the change.
func (c Coder) Work(ctx context.Context, job agent.Job) (result instance.Result, err error) {
	s, err := c.begin(ctx, job)
	if err != nil {
		return result, err
	}
	defer func() { s.close(s.tree) }()
	if s.tree == nil && s.asks.NeedsCode() {
		return instance.Result{Status: instance.Blocked, Summary: "there is no code: the instance was opened without a repository"}, nil
	}
	if err := s.affordable(ctx); err != nil {
		return result, err
	}
	checked, err := s.test(ctx)
	if err != nil {
		return result, err
	}
	base, err := s.tryBase(ctx)
	if err != nil {
		return result, err
	}
	unready, err := s.setUpToThink(ctx)
	if err != nil {
		return result, err
	}
	assignment, err := s.brief(ctx, checked, base, unready)
	if err != nil {
		return result, err
	}
	out, failed := s.think(ctx, assignment)
	out, result, err = s.judge(ctx, out, failed)
	switch {
	case errors.Is(err, errBrain):
		result.Artifacts = append(result.Artifacts, s.left(checked)...)
		return unjudged(result, slices.Concat(checked, base.recorded), err), nil
	case err != nil:
		return result, err
	}
	result.Evidence = checked
	files, result, err := s.collect(ctx, out, result)
	if err == nil {
		result, err = s.prove(ctx, out, result)
	}
	return s.report(ctx, out, files, base.recorded, result, err)
}

// begin chooses the brain and checks out the code. A brain that the repository forbids is put
// to people, by an *agent.ErrEscalate.
func (c Coder) begin(ctx context.Context, job agent.Job) (*step, error) {
	s := &step{Coder: c, job: job, asks: c.asks(job.Assignment), ready: map[*workspace.Tree]bool{}, layers: map[*workspace.Tree]prepared{}}
	s.Rules.Forbidden = slices.Concat(c.Rules.Forbidden, job.Issue.Configured().Protect)
	var err error
	if s.brain, err = c.Brains.Permitted(job.State, s.asks, job.Issue.Configured()); errors.Is(err, errForbidden) {
		return nil, &agent.ErrEscalate{Reason: err.Error(), RequiresHuman: true}
	}
	if err != nil {
		// An operator has to mend it; the work has not been tried.
		return nil, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	if q := job.Question; q != nil && q.RunOnly && s.asks.Runs == workflow.RunsCriteria {
		s.brain = rules.Unchanged{}
	}
	s.free = rules.Free(s.brain)
	if job.Base == "" {
		return s, nil
	}
	if s.tree, err = s.checkout(ctx, job.Head); err != nil {
		return nil, err
	}
	if absent := s.tree.Absent(); len(absent) > 0 {
		job.Progress("without the submodules %s, whose files are not to be had", brief(absent))
	}
	return s, nil
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
	brain brain.Brain
	free  bool                     // the brain costs nothing
	tree  *workspace.Tree          // nil: there is no code
	ready map[*workspace.Tree]bool // whether it could be set up, by tree; none: it was not tried

	layers map[*workspace.Tree]prepared // the environment of a tree; none: it was not prepared
}

// checkout returns a work tree of the job's code at a commit. The caller must close it.
func (s step) checkout(ctx context.Context, commit string) (*workspace.Tree, error) {
	spec := workspace.Spec{Repo: repoOf(s.job.Assignment), Base: s.job.Base, Head: commit}
	for _, b := range s.job.Bundles {
		spec.Bundles = append(spec.Bundles, b.Object)
	}
	return s.Workspace.Checkout(ctx, spec)
}

// close removes a tree, if there is one. The result is as good without; Sweep tries again.
func (s step) close(t *workspace.Tree) {
	if t == nil {
		return
	}
	delete(s.ready, t)
	delete(s.layers, t)
	if err := t.Close(); err != nil {
		s.job.Progress("a work tree stays behind: %v", err)
	}
}
