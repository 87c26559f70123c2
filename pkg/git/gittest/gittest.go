// Package gittest makes git repositories for tests.
package gittest

import (
	"context"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
)

// Repo returns an empty repository in which Ada commits.
func Repo(t testing.TB) git.Runner {
	t.Helper()
	g := git.New(t.TempDir()).WithIdentity("Ada", "ada@example.test")
	Run(t, g, "init", "-q")
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
