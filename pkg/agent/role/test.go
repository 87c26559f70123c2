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
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/instance"
)

func (d Duty) tests(state string) bool   { return slices.Contains(d.Tests, state) }
func (d Duty) changes(state string) bool { return slices.Contains(d.Changes, state) }

// test runs the repository's tests on the tree's very commit. That no way to
// test it was found is evidence too.
func (c Coder) test(ctx context.Context, job agent.Job, tree *workspace.Tree) (instance.Evidence, error) {
	plan, err := c.plan(ctx, job, tree)
	if errors.Is(err, brain.ErrInfrastructure) {
		return instance.Evidence{}, err
	}
	if err != nil {
		return instance.Evidence{Name: testrun.Name, Commit: tree.Head, ExitCode: -1, Output: err.Error()}, nil
	}
	job.Progress("running %s", plan.Command())
	return testrun.Run(ctx, tree.Dir, tree.Head, plan, runner{c.Sandbox, tree.Shared})
}

// plan is how the tree is tested: as its base was, if that could be tested. A
// change that says anew how it is tested would be its own judge.
func (c Coder) plan(ctx context.Context, job agent.Job, tree *workspace.Tree) (testrun.Plan, error) {
	if tree.Head == tree.Base {
		return detect(tree.Dir)
	}
	base, err := c.Workspace.Checkout(ctx, workspace.Spec{Repo: repo(job), Bundles: objects(job), Base: tree.Base})
	if err != nil {
		return testrun.Plan{}, err
	}
	plan, err := detect(base.Dir)
	if cerr := base.Close(); cerr != nil {
		job.Progress("the base's work tree stays behind: %v", cerr)
	}
	if err != nil {
		return detect(tree.Dir)
	}
	return plan, nil
}

// detect finds how the tree in dir is tested, and looks nowhere else.
func detect(dir string) (testrun.Plan, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return testrun.Plan{}, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	defer root.Close()
	return testrun.Detect(root.FS())
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

// caches are the tool caches a test run may fill; those that are not there are skipped.
func caches(env []string) []string {
	values := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	home := values["HOME"]
	all := []string{values["GOCACHE"], values["GOMODCACHE"], values["GOPATH"], values["CARGO_HOME"]}
	if home != "" {
		for _, dir := range []string{".cache", "go", ".npm", ".cargo"} {
			all = append(all, filepath.Join(home, dir))
		}
	}
	return slices.DeleteFunc(all, func(dir string) bool { return dir == "" })
}
