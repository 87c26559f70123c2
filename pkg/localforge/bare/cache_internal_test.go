package bare

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

func TestOnlyRevisionsThatNoRefCanChangeAreFixed(t *testing.T) {
	one, two := strings.Repeat("0a", 20), strings.Repeat("1b", 20)
	for args, want := range map[string]bool{
		"--no-walk=unsorted " + one + " " + two + " --": true,
		"--reverse " + one + ".." + two + " --":         true,
		"--reverse " + one + " ^" + two + " --":         true,
		"--verify -q " + one + "^{commit}":              true,
		"-z " + one + " " + two + " -- main":            true,
		"main --":                                       false,
		"--reverse " + one + "..main --":                false,
		"--verify -q " + one[:12] + "^{commit}":         false,
		"--verify -q " + one + "^{/first}":              false,
		"--all --":                                      false,
		"--stdin --":                                    false,
		"HEAD " + one + " --":                           false,
	} {
		if got := fixed(strings.Fields(args)); got != want {
			t.Errorf("%q is fixed: %t", args, got)
		}
	}
}

func TestGitReadsACommitOnce(t *testing.T) {
	repos, err := NewRepos(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := repos.Repo("acme/widgets")
	if _, err := r.Create(t.Context(), "", ""); err != nil {
		t.Fatal(err)
	}
	g := r.Runner
	tree := gittest.Run(t, g, "mktree") // of nothing
	commit := func(message string) string { return gittest.Run(t, g, "commit-tree", "-m", message, tree) }
	one, two := commit("one"), commit("two")
	runs := 0
	r.Runner = g.Within(func(ctx context.Context, p git.Process) (int, error) {
		runs++
		cmd := exec.CommandContext(ctx, "git", p.Args...)
		cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Dir, p.Env, p.Stdin, p.Stdout, p.Stderr
		err := cmd.Run()
		return cmd.ProcessState.ExitCode(), err
	})
	message := func(revision string) string {
		t.Helper()
		commits, err := r.Commits(t.Context(), "--max-count=1", revision)
		if err != nil || len(commits) != 1 {
			t.Fatalf("%s is %v, %v", revision, commits, err)
		}
		return commits[0].Message
	}
	for range 3 {
		if sha, err := r.Resolve(t.Context(), one); sha != one || err != nil {
			t.Errorf("%s is resolved to %s, %v", one, sha, err)
		}
		if got := message(one); got != "one" {
			t.Errorf("its message is %q", got)
		}
	}
	if runs != 2 {
		t.Errorf("git ran %d times for two facts", runs)
	}
	for _, at := range []struct{ sha, message string }{{one, "one"}, {two, "two"}} {
		gittest.Run(t, g, "update-ref", "refs/heads/main", at.sha)
		if got := message("main"); got != at.message {
			t.Errorf("the branch at %s has the message %q", at.message, got)
		}
	}
	if _, err := r.Resolve(t.Context(), strings.Repeat("ab", 20)); err == nil {
		t.Error("a commit that is not there is resolved")
	}
}
