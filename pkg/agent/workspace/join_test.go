package workspace_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
)

// meeting is the work at head with the branch other of the source.
func (e *env) meeting(head string, bundles ...string) workspace.Meeting {
	return workspace.Meeting{
		Repo: "acme/widgets", Bundles: append([]string{e.bundle}, bundles...), Base: e.base, Head: head,
		From: workspace.Remote{URL: e.source}, Branch: "other", Message: "Merge other",
	}
}

// theirs commits a file on the branch other of the source.
func (e *env) theirs(file, text string) string {
	e.t.Helper()
	e.run(e.git, "checkout", "--quiet", "-B", "other")
	write(e.t, e.source, file, text)
	e.run(e.git, "add", "-A")
	e.run(e.git, "commit", "--quiet", "-m", "theirs")
	return e.run(e.git, "rev-parse", "HEAD")
}

// ours commits a file in a tree.
func (e *env) ours(file, text string) (head, bundle string) {
	e.t.Helper()
	tree := e.tree()
	write(e.t, tree.Dir, file, text)
	return e.commit(tree, "ours"), e.bundleOf(tree)
}

func (e *env) join(m workspace.Meeting) workspace.Joined {
	e.t.Helper()
	j, err := e.newNode().MergeBranch(e.t.Context(), m)
	if err != nil {
		e.t.Fatal(err)
	}
	return j
}

func TestABranchThatHoldsTheWorkIsTaken(t *testing.T) {
	w := newEnv(t)
	theirs := w.theirs("new.txt", "theirs\n")
	j := w.join(w.meeting(w.base))
	if j.Head != theirs || j.Theirs != theirs || j.Bundle == "" || j.Conflicts != nil {
		t.Fatalf("%+v", j)
	}
	if got := read(t, w.checkout(w.newNode(), j.Head, j.Bundle).Dir, "new.txt"); got != "theirs\n" {
		t.Errorf("the work has %q", got)
	}
}

func TestABranchWithoutThePublishedCommitIsTakenAsItIs(t *testing.T) {
	w := newEnv(t)
	head, bundle := w.ours("ours.txt", "ours\n")
	m := w.meeting(head, bundle)
	m.Published = head
	theirs := w.theirs("new.txt", "theirs\n")
	j := w.join(m)
	if !j.Rewritten || j.Head != theirs || j.Bundle == "" || j.String() != "the branch was rewritten and is at "+theirs[:7] {
		t.Errorf("beside the base: %+v, %v", j, j)
	}
	w.run(w.git, "checkout", "--quiet", "--detach")
	w.run(w.git, "branch", "--force", "other", w.base)
	if j := w.join(m); !j.Rewritten || j.Head != w.base || j.Bundle != "" {
		t.Errorf("back at the base: %+v", j)
	}
}

func TestABranchThatTheWorkHoldsChangesNothing(t *testing.T) {
	w := newEnv(t)
	w.run(w.git, "checkout", "--quiet", "-B", "other")
	head, bundle := w.ours("new.txt", "ours\n")
	if j := w.join(w.meeting(head, bundle)); j.Head != head || j.Theirs != w.base || j.Bundle != "" {
		t.Errorf("%+v", j)
	}
}

func TestLinesOfWorkThatPartedAreMerged(t *testing.T) {
	w := newEnv(t)
	theirs := w.theirs("new.txt", "theirs\n")
	head, bundle := w.ours("other.txt", "ours\n")
	j := w.join(w.meeting(head, bundle))
	if j.Conflicts != nil || j.Head == head || j.Head == theirs {
		t.Fatalf("%+v", j)
	}
	tree := w.checkout(w.newNode(), j.Head, bundle, j.Bundle)
	if read(t, tree.Dir, "new.txt") != "theirs\n" || read(t, tree.Dir, "other.txt") != "ours\n" {
		t.Error("a side is missing")
	}
	if again := w.join(w.meeting(head, bundle)); again.Head != j.Head {
		t.Errorf("joined again it is %s, was %s", again.Head, j.Head)
	}
}

func TestAConflictHoldsBothSidesUntilSomebodyChooses(t *testing.T) {
	w := newEnv(t)
	w.theirs("doc/a b.txt", "theirs\ntwo\n")
	head, bundle := w.ours("doc/a b.txt", "ours\ntwo\n")
	j := w.join(w.meeting(head, bundle))
	if !slices.Equal(j.Conflicts, []string{"doc/a b.txt"}) || !strings.Contains(j.String(), "conflicts") {
		t.Fatalf("%+v", j)
	}
	node := w.newNode()
	tree := w.checkout(node, j.Head, bundle, j.Bundle)
	if text := read(t, tree.Dir, "doc/a b.txt"); !strings.Contains(text, "ours\n") || !strings.Contains(text, "theirs\n") || !strings.Contains(text, "<<<<<<< ") {
		t.Errorf("the file is %q", text)
	}
	spec := workspace.Spec{Repo: "acme/widgets", Bundles: []string{w.bundle, bundle, j.Bundle}, Base: w.base, Head: j.Head}
	if left, err := node.Unresolved(t.Context(), spec); err != nil || !slices.Equal(left, []string{"doc/a b.txt:1"}) {
		t.Errorf("left are %q, %v", left, err)
	}
	write(t, tree.Dir, "doc/a b.txt", "Heading\n=======\nboth \n")
	spec.Head = w.commit(tree, "choose")
	if left, err := node.Unresolved(t.Context(), spec); err != nil || left != nil {
		t.Errorf("after it was resolved there are %q, %v", left, err)
	}
}

func TestABranchThatIsNotThereIsNotJoined(t *testing.T) {
	w := newEnv(t)
	if _, err := w.node.MergeBranch(t.Context(), w.meeting(w.base)); !errors.Is(err, workspace.ErrSource) {
		t.Errorf("err %v", err)
	}
}
