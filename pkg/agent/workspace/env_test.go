package workspace_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/git"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	confine.Intercept()
	if exe, err := os.Executable(); err == nil {
		os.Setenv(confine.Variable, exe)
	}
	goleak.VerifyTestMain(m)
}

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

// env is a source repository, an object store and one node.
type env struct {
	t      *testing.T
	source string
	git    git.Runner // in the source
	store  *store
	node   *workspace.Cache
	base   string
	bundle string
}

func newEnv(t *testing.T) *env {
	w := &env{t: t, source: t.TempDir(), store: newStore()}
	w.git = git.New(w.source).WithIdentity("Ada", "ada@example.org")
	w.run(w.git, "init", "--quiet", "--template=")
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

// in is the same environment for a subtest.
func (e env) in(t *testing.T) *env {
	e.t = t
	return &e
}

// newNode is another machine: it shares nothing but the object store.
func (e *env) newNode() *workspace.Cache {
	e.t.Helper()
	return newCache(e.t, e.t.TempDir(), e.store)
}

func newCache(t *testing.T, dir string, objects workspace.Objects) *workspace.Cache {
	t.Helper()
	c, err := workspace.New(workspace.Config{
		Dir: dir, Objects: objects, Identity: outbound.Identity{Name: "developer", Email: "developer@example.org"},
		Now: func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (e *env) run(r git.Runner, args ...string) string {
	e.t.Helper()
	out, err := r.Run(e.t.Context(), args...)
	if err != nil {
		e.t.Fatal(err)
	}
	return out
}

func (e *env) checkout(c *workspace.Cache, head string, bundles ...string) *workspace.Tree {
	e.t.Helper()
	tree, err := c.Checkout(e.t.Context(), workspace.Spec{
		Repo: "acme/widgets", Bundles: append([]string{e.bundle}, bundles...), Base: e.base, Head: head, Branch: "signalbox/issue-1",
	})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			e.t.Error(err)
		}
	})
	return tree
}

func (e *env) tree() *workspace.Tree { return e.checkout(e.node, "") }

// program runs a shell script in the tree as a brain would.
func (e *env) program(tree *workspace.Tree, script string) {
	e.t.Helper()
	cmd := exec.CommandContext(e.t.Context(), "sh", "-ec", script)
	cmd.Dir = tree.Dir
	cmd.Env = append(os.Environ(), "HOME="+e.t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		e.t.Fatalf("%v: %s", err, out)
	}
}

func (e *env) commit(tree *workspace.Tree, message string) string {
	e.t.Helper()
	head, _, err := tree.Commit(e.t.Context(), message)
	if err != nil {
		e.t.Fatal(err)
	}
	return head
}

func (e *env) bundleOf(tree *workspace.Tree) string {
	e.t.Helper()
	name, err := tree.Bundle(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
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
