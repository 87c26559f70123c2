package role

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// check makes the evidence that is asked for before the brain judges, on the
// tree's very commit.
func (s step) check(ctx context.Context) ([]instance.Evidence, error) {
	switch s.asks.Runs {
	case workflow.RunsTests:
		return s.examine(ctx, s.tree, testrun.Name)
	case workflow.RunsChecks:
		all, err := s.examine(ctx, s.tree, testrun.Name, testrun.Lint, testrun.TypeCheck)
		return append(all, testrun.Together(testrun.Build, s.tree.Head, all)), err
	}
	return nil, nil
}

// examine runs checks of the tree. That no way to test it was found is evidence
// too; the other checks a repository need not have.
func (s step) examine(ctx context.Context, tree *workspace.Tree, checks ...string) ([]instance.Evidence, error) {
	ways, err := s.ways(ctx, tree, checks)
	if err != nil {
		return nil, err
	}
	var all []instance.Evidence
	for i, w := range ways {
		switch {
		case errors.Is(w.err, brain.ErrInfrastructure):
			return nil, w.err
		case w.err != nil:
			all = append(all, instance.Evidence{Name: checks[i], Commit: tree.Head, ExitCode: -1, Output: w.err.Error()})
		case w.found:
			s.job.Progress("running %s", w.plan.Command())
			ev, err := testrun.Run(ctx, tree.Dir, tree.Head, w.plan, runner{s.Sandbox, tree.Shared})
			if err != nil {
				return nil, err
			}
			all = append(all, ev)
		}
	}
	return all, nil
}

// way is how a tree is checked, if it is.
type way struct {
	plan  testrun.Plan
	found bool
	err   error
}

// ways is how the tree is checked: as its base was, if that could be. A change
// that says anew how it is tested would be its own judge.
func (s step) ways(ctx context.Context, tree *workspace.Tree, checks []string) ([]way, error) {
	if tree.Head == tree.Base {
		return detect(tree.Dir, checks), nil
	}
	base, err := s.Workspace.Checkout(ctx, spec(s.job, tree.Base))
	if err != nil {
		return nil, err
	}
	defer s.close(base)
	ways, own := detect(base.Dir, checks), detect(tree.Dir, checks)
	for i := range ways {
		if ways[i].err != nil || !ways[i].found {
			ways[i] = own[i]
		}
	}
	return ways, nil
}

// detect finds how the tree in dir is checked, and looks nowhere else.
func detect(dir string, checks []string) []way {
	ways := make([]way, len(checks))
	root, err := os.OpenRoot(dir)
	if err != nil {
		for i := range ways {
			ways[i].err = fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
		}
		return ways
	}
	defer root.Close()
	for i, check := range checks {
		w := &ways[i]
		if check == testrun.Name {
			w.plan, w.err = testrun.Detect(root.FS())
			w.found = w.err == nil
		} else {
			w.plan, w.found, w.err = testrun.DetectCheck(root.FS(), check)
		}
	}
	return ways
}

// runner lets test commands read the tree's borrowed objects, fill their tools'
// caches and fetch what they depend on. It implements testrun.Runner.
type runner struct {
	box    sandbox.Sandbox
	shared string
}

// Run implements testrun.Runner.
func (r runner) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	c.Network = true
	c.Readable = append(c.Readable, r.shared)
	c.Writable = append(c.Writable, caches(c.Env)...)
	return r.box.Run(ctx, c)
}

// keep stores a brain's output as an artifact.
func (c Coder) keep(ctx context.Context, job agent.Job, output []byte) (instance.Artifact, error) {
	sum := sha256.Sum256(output)
	digest := hex.EncodeToString(sum[:])
	a := instance.Artifact{Name: job.State + ".log", Object: "artifact/" + digest, Size: int64(len(output)), SHA256: digest}
	return a, c.Objects.Put(ctx, a.Object, bytes.NewReader(output))
}

// caches are the tool caches a test run may fill; those that are not there are
// skipped. They are no more than caches: beside them lie settings, programs and
// credentials, and the work of other instances.
func caches(env []string) []string {
	values := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	var all []string
	add := func(root string, dirs ...string) {
		for _, dir := range dirs {
			if filepath.IsAbs(root) {
				all = append(all, filepath.Join(root, dir))
			}
		}
	}
	add(values["GOCACHE"], "")
	add(values["GOMODCACHE"], "")
	add(values["GOPATH"], "pkg/mod")
	add(values["CARGO_HOME"], "registry", "git")
	add(values["HOME"], "go/pkg/mod", ".cache/go-build", "Library/Caches/go-build", ".cache/pip", ".cache/uv", ".cache/yarn",
		".npm/_cacache", ".cargo/registry", ".cargo/git")
	return all
}
