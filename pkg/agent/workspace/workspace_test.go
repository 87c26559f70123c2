package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/git"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store is an object store in memory.
type store struct {
	mu      sync.Mutex
	objects map[string][]byte
	gets    int
}

func newStore() *store { return &store{objects: map[string][]byte{}} }

func (s *store) Put(_ context.Context, name string, r io.Reader) error {
	b, err := io.ReadAll(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[name] = b
	return err
}

func (s *store) Get(_ context.Context, name string) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gets++
	if b, ok := s.objects[name]; ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	return nil, fmt.Errorf("object %s not found", name)
}

func (s *store) names() []string { return slices.Sorted(maps.Keys(s.objects)) }

// world is a source repository, an object store and one node.
type world struct {
	t      *testing.T
	source string
	git    git.Runner // in the source
	store  *store
	node   *workspace.Cache
	base   string
	bundle string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, source: t.TempDir(), store: newStore()}
	w.git = git.New(w.source).WithIdentity("Ada", "ada@example.org")
	w.run(w.git, "init", "--quiet")
	write(t, w.source, "main.go", "package main\n\nfunc main() {}\n")
	write(t, w.source, ".gitignore", "*.log\n")
	write(t, w.source, "doc/a b.txt", "one\ntwo\n")
	w.run(w.git, "add", "-A")
	w.run(w.git, "commit", "--quiet", "-m", "first")
	w.node = w.newNode()
	var err error
	w.base, w.bundle, err = w.node.Snapshot(t.Context(), "acme/widgets", workspace.Remote{URL: w.source}, "")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// in is the same world for a subtest.
func (w world) in(t *testing.T) *world {
	w.t = t
	return &w
}

// newNode is another machine: it shares nothing but the object store.
func (w *world) newNode() *workspace.Cache {
	w.t.Helper()
	return newCache(w.t, w.t.TempDir(), w.store)
}

func newCache(t *testing.T, dir string, objects workspace.Objects) *workspace.Cache {
	t.Helper()
	c, err := workspace.New(workspace.Config{
		Dir: dir, Objects: objects, Identity: workspace.Identity{Name: "developer", Email: "developer@example.org"},
		Now: func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) run(r git.Runner, args ...string) string {
	w.t.Helper()
	out, err := r.Run(w.t.Context(), args...)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) checkout(c *workspace.Cache, head string, bundles ...string) *workspace.Tree {
	w.t.Helper()
	tree, err := c.Checkout(w.t.Context(), workspace.Spec{
		Repo: "acme/widgets", Bundles: append([]string{w.bundle}, bundles...), Base: w.base, Head: head, Branch: "signalbox/issue-1",
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return tree
}

func (w *world) tree() *workspace.Tree { return w.checkout(w.node, "") }

// program runs a shell script in the tree as a brain would.
func (w *world) program(tree *workspace.Tree, script string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "sh", "-ec", script)
	cmd.Dir = tree.Dir
	cmd.Env = append(os.Environ(), "HOME="+w.t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
}

func (w *world) commit(tree *workspace.Tree, message string) string {
	w.t.Helper()
	head, _, err := tree.Commit(w.t.Context(), message)
	if err != nil {
		w.t.Fatal(err)
	}
	return head
}

func (w *world) bundleOf(tree *workspace.Tree) string {
	w.t.Helper()
	name, err := tree.Bundle(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return name
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWorkIsContinuedOnAnotherMachineFromBundlesAlone(t *testing.T) {
	w := newWorld(t)
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
	w := newWorld(t)
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

func TestMissingOrWrongBundlesAreInfrastructureFaults(t *testing.T) {
	w := newWorld(t)
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
	w := newWorld(t)
	tree := w.tree()
	w.program(tree, "echo x > x")
	head := w.commit(tree, "X")
	work := w.bundleOf(tree)
	_, err := w.newNode().Checkout(t.Context(), workspace.Spec{Repo: "r", Bundles: []string{work}, Base: w.base, Head: head})
	if !errors.Is(err, brain.ErrInfrastructure) || !strings.Contains(err.Error(), work) {
		t.Errorf("err %v", err)
	}
}

func TestDiffIsReadWithGit(t *testing.T) {
	w := newWorld(t)
	tree := w.tree()
	d, err := tree.Diff(t.Context())
	if err != nil || !d.Empty() || d.Patch != "" {
		t.Fatalf("untouched tree: %+v, %v", d, err)
	}
	w.program(tree, `echo "// more" >> main.go; rm "doc/a b.txt"; printf 'a\0b' > bin; echo noise > x.log; mkdir "ü"; echo hi > "ü/new
line"`)
	d, err = tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []workspace.File{
		{Path: "bin", Status: "A", Binary: true},
		{Path: "doc/a b.txt", Status: "D", Deleted: 2},
		{Path: "main.go", Status: "M", Added: 1},
		{Path: "ü/new\nline", Status: "A", Added: 1},
	}
	if !slices.Equal(d.Files, want) || d.Cut || !strings.Contains(d.Patch, "+// more") || d.String() != "4 files, +2 -2 lines" {
		t.Errorf("got %q %+v\n%s", d, d.Files, d.Patch)
	}
	t.Run("the same content has the same id", func(t *testing.T) {
		again := w.tree()
		w.program(again, `echo "// more" >> main.go; rm "doc/a b.txt"; printf 'a\0b' > bin; mkdir "ü"; echo hi > "ü/new
line"; git add main.go; git commit -qm own`)
		if e, err := again.Diff(t.Context()); err != nil || e.Tree != d.Tree || len(e.Files) != len(d.Files) {
			t.Errorf("tree %s, want %s (%v)", e.Tree, d.Tree, err)
		}
	})
	t.Run("a large patch is cut", func(t *testing.T) {
		w.program(tree, "yes | head -c 1000000 > big.txt")
		d, err := tree.Diff(t.Context())
		if err != nil || !d.Cut || len(d.Patch) > 1<<20 || len(d.Files) != 5 {
			t.Errorf("cut %v, %d bytes, %v", d.Cut, len(d.Patch), err)
		}
	})
}

func TestCommit(t *testing.T) {
	t.Run("takes in all that is not ignored, with trailers", func(t *testing.T) {
		w := newWorld(t)
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
		w := newWorld(t)
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
		w := newWorld(t)
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
		w := newWorld(t)
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
	t.Run("again continues in the same tree", func(t *testing.T) {
		w := newWorld(t)
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
	world := newWorld(t)
	t.Run("are taken in, with what it left uncommitted on top", func(t *testing.T) {
		w := world.in(t)
		tree := w.tree()
		w.program(tree, "echo a > a; git add a; git commit -qm 'own commit'; echo b > b")
		w.commit(tree, "Rest")
		got := w.run(git.New(tree.Dir), "log", "--format=%s")
		if got != "Rest\nown commit\nfirst" {
			t.Errorf("history:\n%s", got)
		}
	})
	t.Run("on a branch of its own count as well", func(t *testing.T) {
		w := world.in(t)
		tree := w.tree()
		w.program(tree, "git checkout -qb mine; echo a > a; git add a; git commit -qm own")
		w.commit(tree, "unused")
		if got := w.run(git.New(tree.Dir), "log", "--format=%s %D"); !strings.HasPrefix(got, "own HEAD -> signalbox/issue-1\n") {
			t.Errorf("history:\n%s", got)
		}
	})
	for name, script := range map[string]string{
		"amended":               "git commit -q --amend -m other",
		"reset to nothing":      "git checkout -q --orphan new; git commit -qm other",
		"in another repository": "rm -rf .git; git init -q; git add .; git -c user.name=a -c user.email=b commit -qm other",
	} {
		t.Run(name+" are refused", func(t *testing.T) {
			w := world.in(t)
			tree := w.tree()
			w.program(tree, script)
			_, _, err := tree.Commit(t.Context(), "m")
			if !errors.Is(err, workspace.ErrHistory) || errors.Is(err, brain.ErrInfrastructure) {
				t.Errorf("err %v", err)
			}
			if _, err := tree.Diff(t.Context()); !errors.Is(err, workspace.ErrHistory) {
				t.Errorf("diff: %v", err)
			}
		})
	}
}

func TestWhatAProgramDoesToItsTree(t *testing.T) {
	world := newWorld(t)
	for name, c := range map[string]struct {
		script string
		want   error
	}{
		"deletes it":                       {`rm -rf "$PWD"`, workspace.ErrGone},
		"puts a link in its place":         {`d="$PWD"; cd ..; rm -rf "$d"; ln -s /etc "$d"`, workspace.ErrGone},
		"breaks its repository":            {"echo nonsense > .git/HEAD", workspace.ErrUnreadable},
		"points its repository elsewhere":  {"rm -rf .git; echo 'gitdir: /tmp' > .git", workspace.ErrUnreadable},
		"cuts its history off":             {"git commit -q --allow-empty -m x; git rev-parse HEAD > .git/shallow", workspace.ErrUnreadable},
		"removes its repository":           {"rm -rf .git; echo x > x", nil},
		"starts its repository afresh":     {"rm -rf .git; git init -q; echo x > x", nil},
		"makes everything read-only":       {"mkdir d; echo x > d/x; chmod -R a-w d", nil},
		"has a repository without commits": {"git init -q sub; echo x > sub/x", workspace.ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			w := world.in(t)
			tree := w.tree()
			w.program(tree, c.script)
			d, err := tree.Diff(t.Context())
			if !errors.Is(err, c.want) || (c.want == nil && len(d.Files) != 1) {
				t.Errorf("err %v, want %v; %d files", err, c.want, len(d.Files))
			}
			if errors.Is(err, brain.ErrInfrastructure) {
				t.Errorf("blamed on the infrastructure: %v", err)
			}
			// What it did stays its own: the next tree is whole.
			if d, err := w.tree().Diff(t.Context()); err != nil || !d.Empty() {
				t.Errorf("next tree: %+v, %v", d, err)
			}
		})
	}
}

func TestHooksAndConfigurationOfTheProgramNeverRun(t *testing.T) {
	w := newWorld(t)
	tree := w.tree()
	trap := filepath.Join(t.TempDir(), "sprung")
	w.program(tree, `
		echo x > x
		printf '* filter=evil diff=evil\n' > .gitattributes
		mkdir -p .git/hooks other
		for h in pre-commit post-commit commit-msg post-checkout pre-push reference-transaction post-index-change; do
			printf '#!/bin/sh\ntouch `+trap+`\n' > .git/hooks/$h; chmod +x .git/hooks/$h
		done
		cat > evil.conf <<-E
		[core]
			repositoryformatversion = 1
			fsmonitor = touch `+trap+`
			hooksPath = $PWD/.git/hooks
			pager = touch `+trap+`
			sshCommand = touch `+trap+`
			alternateRefsCommand = touch `+trap+`
		[extensions]
			partialClone = origin
		[remote "origin"]
			promisor = true
			url = .
			uploadpack = touch `+trap+`;
		[filter "evil"]
			clean = touch `+trap+`; cat
			smudge = touch `+trap+`; cat
			required = true
		[diff "evil"]
			command = touch `+trap+`
			textconv = touch `+trap+`
		[uploadpack]
			packObjectsHook = touch `+trap+`
		E
		cp evil.conf .git/config; cp evil.conf other/config; mv evil.conf .git/config.worktree
		printf '%s\n' "$PWD/other" > .git/commondir`)
	if _, err := tree.Diff(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Check(t.Context(), workspace.DefaultRules()); err != nil {
		t.Fatal(err)
	}
	w.commit(tree, "X")
	w.bundleOf(tree)
	w.program(tree, "git status >&2; echo y > x; git commit -qam own")
	w.commit(tree, "unused")
	if _, err := os.Stat(trap); err == nil {
		t.Error("a command of the program's configuration ran")
	}
	if got := w.run(git.New(tree.Dir), "config", "--local", "--list"); strings.Contains(got, "touch") {
		t.Errorf("the next program inherits:\n%s", got)
	}
}

func TestTheCachesConfigurationIsPutBack(t *testing.T) {
	w := newWorld(t)
	tree := w.tree()
	config := filepath.Join(filepath.Dir(tree.Shared), "config")
	was := read(t, filepath.Dir(config), "config")
	outside := filepath.Join(t.TempDir(), "precious")
	write(t, filepath.Dir(outside), "precious", "kept")
	for _, script := range []string{
		"echo x > x; printf '[core]\n\tfsmonitor = touch sprung\n\tworktree = /\n' > " + config,
		"echo y > x; rm " + config + "; ln -s " + outside + " " + config,
	} {
		w.program(tree, script)
		w.commit(tree, "X")
		if got := read(t, filepath.Dir(config), "config"); got != was {
			t.Errorf("configuration of the cache:\n%s", got)
		}
	}
	if got := read(t, filepath.Dir(outside), "precious"); got != "kept" {
		t.Errorf("written through the link: %q", got)
	}
}

func TestCloseAndSweepRemoveTrees(t *testing.T) {
	w := newWorld(t)
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
	w := newWorld(t)
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
	w := newWorld(t)
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
