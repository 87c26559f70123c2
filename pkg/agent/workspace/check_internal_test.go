package workspace

import (
	"context"
	"os/exec"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

func TestOneProcessFindsTheCommitsOfAllBranches(t *testing.T) {
	g := gittest.Repo(t)
	tree := gittest.Run(t, g, "mktree")
	commit := gittest.Run(t, g, "commit-tree", "-m", "one", tree)
	gittest.Run(t, g, "-c", "user.name=Ann", "-c", "user.email=ann@example.com", "tag", "-a", "-m", "v1", "v1", commit)
	tag := gittest.Run(t, g, "rev-parse", "v1")
	objects := []string{tree, commit, "0123456789012345678901234567890123456789", tag, "no name"}
	for range 500 {
		objects = append(objects, commit)
	}
	runs := 0
	r := repository{git: g.Within(func(ctx context.Context, p git.Process) (int, error) {
		runs++
		cmd := exec.CommandContext(ctx, "git", p.Args...)
		cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Dir, p.Env, p.Stdin, p.Stdout, p.Stderr
		err := cmd.Run()
		return cmd.ProcessState.ExitCode(), err
	})}
	found, err := r.commits(t.Context(), objects)
	if err != nil || len(found) != 2 || !found[commit] || !found[tag] || runs != 1 {
		t.Errorf("of %s and %s it finds %v in %d runs of git, %v", commit, tag, found, runs, err)
	}
	if found, err := r.commits(t.Context(), nil); err != nil || len(found) != 0 {
		t.Errorf("of nothing it finds %v, %v", found, err)
	}
}
