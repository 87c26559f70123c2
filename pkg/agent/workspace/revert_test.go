package workspace_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
)

// proposed commits two changes on the branch topic, and returns their subjects.
func (e *env) proposed() []string {
	e.t.Helper()
	e.run(e.git, "branch", "--force", "other")
	e.run(e.git, "checkout", "--quiet", "-B", "topic")
	for name, text := range map[string]string{"a.txt": "a\n", "b.txt": "b\n"} {
		write(e.t, e.source, name, text)
		e.run(e.git, "add", "-A")
		e.run(e.git, "commit", "--quiet", "-m", "Add "+name)
	}
	both := e.run(e.git, "log", "-2", "--reverse", "--format=%s")
	return []string{both[:9], both[10:]}
}

func TestAMergeIsRevertedHoweverItWasMade(t *testing.T) {
	for name, merge := range map[string][][]string{
		"by a merge":  {{"merge", "--quiet", "--no-ff", "-m", "Merge", "topic"}},
		"by a squash": {{"merge", "--quiet", "--squash", "topic"}, {"commit", "--quiet", "-m", "Both (#1)"}},
		"by a rebase": {{"commit", "--quiet", "--allow-empty", "-m", "between"}, {"cherry-pick", "topic~1", "topic"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			subjects := w.proposed()
			w.run(w.git, "checkout", "--quiet", "other")
			for _, args := range merge {
				w.run(w.git, args...)
			}
			merged := w.run(w.git, "rev-parse", "HEAD")
			at := "HEAD^1"
			if name == "by a rebase" {
				at = "HEAD~2"
			}
			before := w.run(w.git, "rev-parse", at)
			m := workspace.Merged{Repo: "acme/widgets", From: workspace.Remote{URL: w.source}, Branch: "other", Commit: merged, Subjects: subjects}
			if at, err := w.newNode().Before(t.Context(), m); err != nil || at != before {
				t.Fatalf("before it was %s, %v; want %s", at, err, before)
			}
			w.theirs("later.txt", "later\n")
			undo := workspace.Reversal{Merged: m, Base: w.base, Bundles: []string{w.bundle}, Message: "Revert it"}
			r, err := w.newNode().Revert(t.Context(), undo)
			if err != nil || r.Conflicts != nil || r.Undone {
				t.Fatalf("%+v, %v", r, err)
			}
			tree := w.checkout(w.newNode(), r.Head, r.Bundle)
			if out := w.run(w.git, "ls-tree", "--name-only", before); out != w.run(w.git.In(tree.Dir), "ls-tree", "--name-only", r.Head) {
				t.Errorf("it leaves other files than\n%s", out)
			}
			if again, err := w.newNode().Revert(t.Context(), undo); err != nil || again.Head != r.Head || again.Bundle != r.Bundle {
				t.Errorf("made again it is %+v, %v; it was %+v", again, err, r)
			}
		})
	}
}

func TestAReversalThatConflictsSaysWhere(t *testing.T) {
	w := newEnv(t)
	w.proposed()
	w.run(w.git, "checkout", "--quiet", "other")
	w.run(w.git, "merge", "--quiet", "--no-ff", "-m", "Merge", "topic")
	m := workspace.Merged{Repo: "acme/widgets", From: workspace.Remote{URL: w.source}, Branch: "other", Commit: w.run(w.git, "rev-parse", "HEAD")}
	w.theirs("a.txt", "built upon\n")
	r, err := w.newNode().Revert(t.Context(), workspace.Reversal{Merged: m, Message: "Revert it"})
	if err != nil || r.Head != "" || !slices.Equal(r.Conflicts, []string{"a.txt"}) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWhatWasUndoneIsNotRevertedAgain(t *testing.T) {
	w := newEnv(t)
	w.proposed()
	w.run(w.git, "checkout", "--quiet", "other")
	w.run(w.git, "merge", "--quiet", "--no-ff", "-m", "Merge", "topic")
	m := workspace.Merged{Repo: "acme/widgets", From: workspace.Remote{URL: w.source}, Branch: "other", Commit: w.run(w.git, "rev-parse", "HEAD")}
	w.run(w.git, "revert", "--no-edit", "-m", "1", m.Commit)
	if r, err := w.newNode().Revert(t.Context(), workspace.Reversal{Merged: m, Message: "Revert it"}); err != nil || !r.Undone || r.Head != "" {
		t.Errorf("%+v, %v", r, err)
	}
	w.run(w.git, "reset", "--quiet", "--hard", w.base)
	if _, err := w.newNode().Before(t.Context(), m); !errors.Is(err, workspace.ErrNotContained) {
		t.Errorf("a merge that is gone from the branch: %v", err)
	}
}
