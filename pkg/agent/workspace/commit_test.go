package workspace_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
)

func TestCommit(t *testing.T) {
	t.Run("takes in all that is not ignored, with trailers", func(t *testing.T) {
		w := newEnv(t)
		tree := w.tree()
		w.program(tree, "echo noise > x.log; echo new > new.txt")
		head, moved, err := tree.Commit(t.Context(), "Add a file\n\nBody.\n", "Signalbox-Instance: acme/1", "Signalbox-State: implementing")
		if err != nil || !moved || head != tree.Head {
			t.Fatalf("moved %v, %v", moved, err)
		}
		show := w.run(git.New(tree.Dir), "show", "--format=%an %ae %ad%n%B", "--date=iso-strict-local", "--name-only", head)
		want := "developer developer@example.org 2030-01-02T03:04:05+00:00\nAdd a file\n\nBody.\n\nSignalbox-Instance: acme/1\nSignalbox-State: implementing\n\n\nnew.txt"
		if show != want {
			t.Errorf("commit:\n%s\nwant:\n%s", show, want)
		}
	})
	t.Run("of nothing moves nothing", func(t *testing.T) {
		w := newEnv(t)
		tree := w.tree()
		head, moved, err := tree.Commit(t.Context(), "Nothing")
		if err != nil || moved || head != w.base {
			t.Errorf("head %s, moved %v, %v", head, moved, err)
		}
		if name := w.bundleOf(tree); name != "" {
			t.Errorf("bundled %s", name)
		}
	})
	t.Run("of the same work is the same commit on any machine", func(t *testing.T) {
		w := newEnv(t)
		one, two := w.tree(), w.checkout(w.newNode(), "")
		w.program(one, "echo x > x")
		w.program(two, "echo x > x")
		if a, b := w.commit(one, "X"), w.commit(two, "X"); a != b {
			t.Errorf("%s and %s", a, b)
		}
		if a, b := w.bundleOf(one), w.bundleOf(two); a != b {
			t.Errorf("%s and %s", a, b)
		}
	})
	t.Run("needs a message and one-line trailers", func(t *testing.T) {
		w := newEnv(t)
		tree := w.tree()
		for _, trailer := range []string{"no colon", "A: b\nc", "two words: x"} {
			if _, _, err := tree.Commit(t.Context(), "m", trailer); err == nil {
				t.Errorf("trailer %q was taken", trailer)
			}
		}
		if _, _, err := tree.Commit(t.Context(), " \n"); err == nil {
			t.Error("an empty message was taken")
		}
	})
	t.Run("commits what was looked at, where the tree is held", func(t *testing.T) {
		w := newEnv(t)
		tree := w.tree()
		w.program(tree, "echo 1 > n")
		release := tree.Hold()
		if d, err := tree.Diff(t.Context()); err != nil || len(d.Files) != 1 {
			t.Fatalf("%v, %v", d, err)
		}
		w.program(tree, "echo 2 > n; echo late > late")
		head := w.commit(tree, "One")
		if got := w.run(git.New(tree.Dir), "ls-tree", "-r", "--name-only", head); strings.Contains(got, "late") {
			t.Errorf("the commit has %s", got)
		}
		if d, err := tree.Change(t.Context()); err != nil || len(d.Files) != 1 {
			t.Errorf("the change is %v, %v", d, err)
		}
		release()
		if d, err := tree.Diff(t.Context()); err != nil || len(d.Files) != 2 {
			t.Errorf("afterwards the tree has %v, %v", d, err)
		}
	})
	t.Run("again continues in the same tree", func(t *testing.T) {
		w := newEnv(t)
		tree := w.tree()
		w.program(tree, "echo 1 > n")
		w.commit(tree, "One")
		w.program(tree, "test -z \"$(git status --porcelain)\"; git log --oneline | grep One; echo 2 > n")
		w.commit(tree, "Two")
		if got := w.run(git.New(tree.Dir), "rev-list", "--count", "HEAD"); got != "3" {
			t.Errorf("%s commits", got)
		}
	})
}

func TestTheProgramsOwnCommits(t *testing.T) {
	parent := newEnv(t)
	t.Run("are taken in, with what it left uncommitted on top", func(t *testing.T) {
		w := parent.in(t)
		tree := w.tree()
		w.program(tree, "echo a > a; git add a; git commit -qm 'own commit'; echo b > b")
		w.commit(tree, "Rest")
		got := w.run(git.New(tree.Dir), "log", "--format=%s")
		if got != "Rest\nown commit\nfirst" {
			t.Errorf("history:\n%s", got)
		}
	})
	t.Run("on a branch of its own count as well", func(t *testing.T) {
		w := parent.in(t)
		tree := w.tree()
		w.program(tree, "git checkout -qb mine; echo a > a; git add a; git commit -qm own")
		w.commit(tree, "unused")
		if got := w.run(git.New(tree.Dir), "log", "--format=%s %D"); !strings.HasPrefix(got, "own HEAD -> signalbox/issue-1\n") {
			t.Errorf("history:\n%s", got)
		}
	})
	for name, script := range map[string]string{
		"amended":                "git commit -q --amend -m other",
		"reset to nothing":       "git checkout -q --orphan new; git commit -q --allow-empty -m other",
		"by another person":      "git -c user.name=x -c user.email=x@example.org commit -q --allow-empty -m other",
		"that close an issue":    "git commit -q --allow-empty -m 'fixes #3'",
		"with a verdict of ours": "git commit -q --allow-empty -m x -m 'signalbox-verdict: shown TestX'",
		"in another repository":  "rm -rf .git; git init -q; git add .; git -c user.name=a -c user.email=b commit -q --allow-empty -m other",
	} {
		t.Run(name+" do not count, and what they left does", func(t *testing.T) {
			w := parent.in(t)
			tree := w.tree()
			w.program(tree, "echo a > a; git add a; "+script)
			if diff, err := tree.Diff(t.Context()); err != nil || diff.Empty() {
				t.Errorf("the change is %+v, %v", diff, err)
			}
			w.commit(tree, "Add a")
			if got := w.run(git.New(tree.Dir), "log", "--format=%s", "--name-only"); !strings.HasPrefix(got, "Add a\n\na\nfirst\n\n") {
				t.Errorf("history:\n%s", got)
			}
		})
		t.Run(name+" without a change are none", func(t *testing.T) {
			w := parent.in(t)
			tree := w.tree()
			w.program(tree, script)
			if _, moved, err := tree.Commit(t.Context(), "m"); err != nil || moved {
				t.Errorf("moved %t, %v", moved, err)
			}
		})
	}
}
