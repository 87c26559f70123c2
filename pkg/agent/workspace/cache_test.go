package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/git"
)

func TestWorkIsContinuedOnAnotherMachineFromBundlesAlone(t *testing.T) {
	w := newEnv(t)
	first := w.tree()
	w.program(first, "echo fixed >> main.go; echo new > new.txt")
	head := w.commit(first, "Fix it")
	work := w.bundleOf(first)

	other := w.newNode()
	second := w.checkout(other, head, work)
	if got := read(t, second.Dir, "new.txt"); got != "new\n" {
		t.Errorf("new.txt is %q", got)
	}
	w.program(second, "test \"$(git symbolic-ref --short HEAD)\" = signalbox/issue-1; test -z \"$(git status --porcelain)\"; echo more >> new.txt")
	again := w.commit(second, "More")
	more := w.bundleOf(second)

	third := w.checkout(w.newNode(), again, more)
	if got := read(t, third.Dir, "new.txt"); got != "new\nmore\n" {
		t.Errorf("new.txt is %q", got)
	}
	if got := w.run(git.New(third.Dir), "log", "--format=%s <%ce>"); got != "More <developer@example.org>\nFix it <developer@example.org>\nfirst <ada@example.org>" {
		t.Errorf("history:\n%s", got)
	}
}

func TestCachedWorkIsNotFetchedAgain(t *testing.T) {
	w := newEnv(t)
	w.tree()
	if w.store.gets != 1 { // Snapshot asked whether it is there
		t.Errorf("%d objects read", w.store.gets)
	}
	other := w.newNode()
	w.checkout(other, "")
	w.checkout(other, "")
	if w.store.gets != 2 {
		t.Errorf("%d objects read", w.store.gets)
	}
}

// Whoever is stopped while git makes the repository leaves half of one.
func TestHalfARepositoryIsMadeAnew(t *testing.T) {
	w := newEnv(t)
	for _, left := range [][]string{{}, {"HEAD"}, {"HEAD", "HEAD.lock", "refs/"}, {"objects/", "refs/"}} {
		dir := t.TempDir()
		for _, half := range []string{"acme%2Fwidgets.git", "acme%2Fwidgets.new"} {
			half = filepath.Join(dir, "repos", half)
			if err := os.MkdirAll(half, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, part := range left {
				var err error
				if name, is := strings.CutSuffix(part, "/"); is {
					err = os.Mkdir(filepath.Join(half, name), 0o755)
				} else {
					err = os.WriteFile(filepath.Join(half, part), []byte("ref: ref"), 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		w.checkout(newCache(t, dir, w.store), "")
	}
}

func TestMissingOrWrongBundlesAreInfrastructureFaults(t *testing.T) {
	w := newEnv(t)
	absent := strings.Repeat("a", 40)
	w.store.objects["git/x/"+absent] = []byte("no bundle")
	for name, spec := range map[string]workspace.Spec{
		"object missing":      {Repo: "r", Base: absent, Bundles: []string{"git/r/" + absent}},
		"object is no bundle": {Repo: "r", Base: absent, Bundles: []string{"git/x/" + absent}},
		"commit not in it":    {Repo: "r", Base: absent, Bundles: []string{w.bundle}},
		"no commit":           {Repo: "r", Bundles: []string{w.bundle}},
		"no repository":       {Base: w.base, Bundles: []string{w.bundle}},
		"bad branch":          {Repo: "r", Base: w.base, Bundles: []string{w.bundle}, Branch: "a..b"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.newNode().Checkout(t.Context(), spec)
			if !errors.Is(err, brain.ErrInfrastructure) {
				t.Errorf("err %v", err)
			}
		})
	}
}

func TestWorkWithoutItsBaseIsRefused(t *testing.T) {
	w := newEnv(t)
	tree := w.tree()
	w.program(tree, "echo x > x")
	head := w.commit(tree, "X")
	work := w.bundleOf(tree)
	_, err := w.newNode().Checkout(t.Context(), workspace.Spec{Repo: "r", Bundles: []string{work}, Base: w.base, Head: head})
	if !errors.Is(err, brain.ErrInfrastructure) || !strings.Contains(err.Error(), work) {
		t.Errorf("err %v", err)
	}
}

func TestCloseAndSweepRemoveTrees(t *testing.T) {
	w := newEnv(t)
	dir := t.TempDir()
	node := newCache(t, dir, w.store)
	spec := workspace.Spec{Repo: "r", Bundles: []string{w.bundle}, Base: w.base}
	open := func() *workspace.Tree {
		tree, err := node.Checkout(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	used, closed := open(), open()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	// What a killed process leaves: a tree whose lock nobody holds.
	write(t, dir, "trees/dead/work/f", "x")
	write(t, dir, "trees/dead/lock", "")
	write(t, dir, "bundle-old", "x")
	write(t, dir, "bundle-new", "x")
	if err := os.Chtimes(filepath.Join(dir, "bundle-old"), time.Time{}, time.Now().Add(-25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n, err := node.Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	left, err := os.ReadDir(filepath.Join(dir, "trees"))
	if err != nil || len(left) != 1 || left[0].Name() != filepath.Base(filepath.Dir(used.Dir)) {
		t.Errorf("left: %v, %v", left, err)
	}
	if got, _ := filepath.Glob(filepath.Join(dir, "bundle-*")); len(got) != 1 || filepath.Base(got[0]) != "bundle-new" {
		t.Errorf("bundles left: %v", got)
	}
	if err := used.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestManyTreesAtOnceFromOneColdCache(t *testing.T) {
	w := newEnv(t)
	dir := t.TempDir()
	var wg sync.WaitGroup
	heads := make([]string, 8)
	for i := range heads {
		node := newCache(t, dir, w.store) // as another process would
		wg.Go(func() {
			tree, err := node.Checkout(t.Context(), workspace.Spec{Repo: "r", Bundles: []string{w.bundle}, Base: w.base})
			if err != nil {
				t.Error(err)
				return
			}
			write(t, tree.Dir, "n", fmt.Sprint(i))
			head, _, err := tree.Commit(t.Context(), "N")
			if err != nil {
				t.Error(err)
			}
			heads[i] = head
			if err := tree.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	slices.Sort(heads)
	if len(slices.Compact(heads)) != 8 || heads[0] == "" {
		t.Errorf("heads %v", heads)
	}
}

func TestWaitingForAnotherEndsWithTheContext(t *testing.T) {
	w := newEnv(t)
	dir := t.TempDir()
	node := newCache(t, dir, blocked{make(chan struct{})})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	for range 2 {
		go func() {
			_, err := node.Checkout(ctx, workspace.Spec{Repo: "r", Bundles: []string{w.bundle}, Base: w.base})
			done <- err
		}()
	}
	cancel()
	for range 2 {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("err %v", err)
		}
	}
}

// blocked is a store that answers when the context ends.
type blocked struct{ never chan struct{} }

func (b blocked) Put(ctx context.Context, _ string, _ io.Reader) error {
	<-ctx.Done()
	return ctx.Err()
}

func (b blocked) Get(ctx context.Context, _ string) (io.ReadCloser, error) {
	select {
	case <-b.never:
	case <-ctx.Done():
	}
	return nil, ctx.Err()
}

func TestNobodyElseReadsTheWorkDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil { // as an earlier build made it
		t.Fatal(err)
	}
	newCache(t, dir, newStore())
	for _, name := range []string{"", "repos", "trees"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%q has the mode %v, %v", name, info.Mode(), err)
		}
	}
}

func TestACheckoutThatFailsLeavesNoTree(t *testing.T) {
	w := newEnv(t)
	first := w.tree()
	trees := filepath.Dir(filepath.Dir(first.Dir))
	write(t, w.source, "commit", "tree "+strings.Repeat("1", 40)+"\nauthor Ada <ada@example.org> 1 +0000\ncommitter Ada <ada@example.org> 1 +0000\n\nx\n")
	g := git.New(w.source).WithEnv("GIT_DIR=" + filepath.Dir(first.Shared))
	broken := strings.TrimSpace(w.run(g, "hash-object", "-t", "commit", "-w", "--literally", "commit"))

	tree, err := w.node.Checkout(t.Context(), workspace.Spec{Repo: "acme/widgets", Bundles: []string{w.bundle}, Base: w.base, Head: broken})
	if tree != nil || !errors.Is(err, brain.ErrInfrastructure) || !strings.Contains(err.Error(), "check out "+broken) {
		t.Errorf("got %v, %v", tree, err)
	}
	if left, err := os.ReadDir(trees); err != nil || len(left) != 1 {
		t.Errorf("there are %d trees, want the first: %v", len(left), err)
	}
}
