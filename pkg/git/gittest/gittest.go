// Package gittest makes git repositories for tests.
package gittest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
)

// Repo returns an empty repository, on the branch main, in which Ada commits.
func Repo(t testing.TB) git.Runner {
	t.Helper()
	return RepoOn(t, "main")
}

// RepoOn returns an empty repository on the branch, in which Ada commits. It has the files that git
// init makes, without a run of git: hundreds of tests begin with it.
func RepoOn(t testing.TB, branch string) git.Runner {
	t.Helper()
	g := git.New(t.TempDir()).WithIdentity("Ada", "ada@example.test")
	dot := filepath.Join(g.Dir(), ".git")
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(dot, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"HEAD":   "ref: refs/heads/" + branch + "\n",
		"config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
	} {
		if err := os.WriteFile(filepath.Join(dot, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// Run runs git and returns what it prints. The test ends where git fails.
func Run(t testing.TB, g git.Runner, args ...string) string {
	t.Helper()
	out, err := g.Run(context.WithoutCancel(t.Context()), args...) // also while the test cleans up
	if err != nil {
		t.Fatal(err)
	}
	return out
}
