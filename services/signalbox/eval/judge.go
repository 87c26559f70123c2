package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/git"
)

// judge runs tests on commits, in the sandbox. It is safe for concurrent use.
type judge struct {
	repo   string // bare, with all commits of the cases
	dir    string // for work trees
	box    sandbox.Sandbox
	egress egress.List
	limits sandbox.Limits
	cache  string // of tools; all its runs share it
}

// code is a commit in a repository on this machine.
type code struct{ repo, commit string }

// try checks out the code with the tests of the case, and runs them. If the code has none
// that could be run the error is testrun.ErrNoTests.
func (j judge) try(ctx context.Context, at code, c Case) (instance.Evidence, error) {
	dir, err := os.MkdirTemp(j.dir, "tree-")
	if err != nil {
		return instance.Evidence{}, err
	}
	defer os.RemoveAll(dir)
	if err := j.checkout(ctx, dir, at, c); err != nil {
		return instance.Evidence{}, fmt.Errorf("check out %.12s: %w", at.commit, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return instance.Evidence{}, err
	}
	defer root.Close()
	plan, err := testrun.Detect(root.FS())
	if err != nil {
		return instance.Evidence{}, err
	}
	ev, _, err := testrun.Run(ctx, dir, at.commit, plan, j)
	return ev, err
}

// Run implements testrun.Runner.
func (j judge) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	c.Egress, c.Limits, c.Cache = j.egress, j.limits, j.cache
	c.Readable = append(c.Readable, filepath.Join(j.repo, "objects"))
	return j.box.Run(ctx, c)
}

// checkout writes the code into dir, and over it the tests of the case as its commit has
// them.
func (j judge) checkout(ctx context.Context, dir string, at code, c Case) error {
	g := git.New(dir).WithEnv("GIT_ALLOW_PROTOCOL=file")
	if _, err := g.Run(ctx, "clone", "--quiet", "--shared", "--no-checkout", "--template=", j.repo, "."); err != nil {
		return err
	}
	if at.repo != j.repo {
		if _, err := g.Run(ctx, "fetch", "--quiet", "--no-tags", at.repo, at.commit); err != nil {
			return err
		}
	}
	if _, err := g.Run(ctx, "checkout", "--quiet", "--detach", at.commit); err != nil {
		return err
	}
	there, err := names(ctx, g, c.Commit, c.Tests)
	if err != nil {
		return err
	}
	if len(there) > 0 {
		if _, err := g.Run(ctx, append([]string{"--literal-pathspecs", "checkout", "--quiet", c.Commit, "--"}, there...)...); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range c.Tests {
		if slices.Contains(there, name) {
			continue
		}
		if err := root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// names lists which of the files a commit has.
func names(ctx context.Context, g git.Runner, commit string, files []string) ([]string, error) {
	out, err := g.Run(ctx, append([]string{"--literal-pathspecs", "ls-tree", "-r", "-z", "--name-only", commit, "--"}, files...)...)
	return fields(out), err
}
