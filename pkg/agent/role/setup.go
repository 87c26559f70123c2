package role

import (
	"context"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
)

// cannotSetUp begins the question about a setup that fails.
const cannotSetUp = "the setup of " + testrun.ConfigFile + " fails: "

// maxSetup is how many bytes of the output of a setup are kept, and maxSaid how many
// people get.
const (
	maxSetup = 64 << 10
	maxSaid  = 4 << 10
)

// setUp runs the setup of the base's configuration in a tree, once. Files that it leaves are
// no part of a change. A setup that fails is put to people, by an *agent.ErrEscalate; what
// they say to it lets the work go on.
func (s step) setUp(ctx context.Context, tree *workspace.Tree) error {
	if _, done := s.ready[tree]; done {
		return nil
	}
	plan, found, err := s.setup(ctx, tree)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		return s.notSetUp(err.Error())
	case !found:
		return s.prepare(ctx, tree)
	}
	s.job.Progress("setting up: %s", plan.Command())
	run, err := s.runner(tree).Run(ctx, sandbox.Command{
		Argv: plan.Argv, Dir: tree.Dir, Env: append(sandbox.Environ(), plan.Env...), Wall: plan.Timeout, MaxOutput: maxSetup,
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w: set up %.10s with %s: %w", brain.ErrInfrastructure, tree.Base, plan.Command(), err)
	}
	if err := tree.StartChange(ctx); err != nil {
		return err
	}
	s.ready[tree] = run.OK()
	if run.OK() {
		return nil
	}
	said := printable(strings.ToValidUTF8(string(run.Output[max(len(run.Output)-maxSaid, 0):]), ""))
	if len(run.Refused) > 0 {
		said += "\nThe sandbox let none of these out; --egress HOST allows one:\n" + strings.Join(run.Refused, "\n")
	}
	why := run.String()
	if missing := testrun.Missing(said, plan, tree.Dir, run.Mode); missing != "" && len(run.Refused) == 0 {
		why += "; " + missing
	}
	return s.notSetUp(fmt.Sprintf("%s: %s\n\n%s", plan.Command(), why, strings.TrimSpace(said)))
}

// setup returns the plan of the base's setup.
func (s step) setup(ctx context.Context, tree *workspace.Tree) (testrun.Plan, bool, error) {
	content, err := settings(ctx, tree)
	if err != nil {
		return testrun.Plan{}, false, err
	}
	return testrun.Setup(content)
}

// settings returns the file of the base that has the commands; nil if there is none.
func settings(ctx context.Context, tree *workspace.Tree) ([]byte, error) {
	v, err := tree.Version(ctx, tree.Base, testrun.ConfigFile)
	if err != nil || v.Blob == "" {
		return nil, err
	}
	return tree.Content(ctx, v)
}

// notSetUp puts a setup that fails to people, once.
func (s step) notSetUp(why string) error {
	if s.toldOf(cannotSetUp) {
		s.job.Progress("%s", oneLine(cannotSetUp+why))
		return nil
	}
	return &agent.ErrEscalate{Reason: cannotSetUp + why, RequiresHuman: true}
}

// toldOf reports whether people have answered an escalation that begins so.
func (s step) toldOf(beginning string) bool {
	_, answered := s.answer(beginning)
	return answered
}

// setUpToThink sets up the tree of a brain that costs something. It returns the warning for the
// brain that the setup fails, and people know it.
func (s step) setUpToThink(ctx context.Context) (warnings []string, err error) {
	if s.tree == nil || s.free {
		return nil, nil
	}
	err = s.setUp(ctx, s.tree)
	if err == nil {
		err = s.fill(ctx, s.tree) // a brain runs where no mount reaches
	}
	if err == nil && !s.ready[s.tree] && s.toldOf(cannotSetUp) {
		warnings = []string{"the setup of " + testrun.ConfigFile + " fails, as people know"}
	}
	return warnings, err
}
