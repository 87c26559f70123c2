package link_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/git"
)

// objects is an object store in memory.
type objects struct{ all sync.Map }

func (o *objects) Put(_ context.Context, name string, r io.Reader) error {
	b, err := io.ReadAll(r)
	o.all.Store(name, b)
	return err
}

func (o *objects) Get(_ context.Context, name string) (io.ReadCloser, error) {
	b, ok := o.all.Load(name)
	if !ok {
		return nil, fmt.Errorf("object %s not found", name)
	}
	return io.NopCloser(bytes.NewReader(b.([]byte))), nil
}

// node is a machine of its own, which shares nothing but the objects.
func node(t *testing.T, o *objects) *workspace.Cache {
	t.Helper()
	c, err := workspace.New(workspace.Config{Dir: t.TempDir(), Objects: o})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// work checks the instance out on a new machine, and commits one more file.
func work(t *testing.T, o *objects, in instance.Instance, file string) instance.Result {
	t.Helper()
	var names []string
	for _, b := range in.Bundles {
		names = append(names, b.Object)
	}
	tree, err := node(t, o).Checkout(t.Context(), workspace.Spec{Repo: in.ID, Bundles: names, Base: in.Base, Head: in.Head})
	if err != nil {
		t.Fatalf("check out %s of %s: %v", in.Head, in.ID, err)
	}
	defer tree.Close()
	if err := os.WriteFile(filepath.Join(tree.Dir, file), []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	head, _, err := tree.Commit(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := tree.Bundle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return instance.Result{Head: head, Bundle: bundle}
}

func TestAChildGoesOnWithItsParentsWork(t *testing.T) {
	source := t.TempDir()
	g := git.New(source).WithIdentity("Ada", "ada@example.org")
	for _, args := range [][]string{{"init", "--quiet"}, {"commit", "--quiet", "--allow-empty", "-m", "first"}} {
		if _, err := g.Run(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	o := &objects{}
	base, bundle, err := node(t, o).Snapshot(t.Context(), "a", workspace.Remote{URL: source}, "")
	if err != nil {
		t.Fatal(err)
	}
	e := newEnv(t)
	r := e.replica(parent, strings.Replace(child, "broken: {final: true}", "broken: {final: true, spawns: [{workflow: chain}]}", 1), chain)
	now := r.do("a", "parent", instance.Open{Issue: instance.Issue{Title: "t"}, Base: base, Bundle: bundle})
	first := work(t, o, now, "one")
	first.Status = instance.Failure
	now = r.report("a", first)
	now = r.report("a", work(t, o, now, "two"))

	in := r.in("a/child", "late")
	if in.Base != now.Head || in.Head != now.Head || len(in.Bundles) != 2 {
		t.Errorf("it starts at %s with %v, want %s", in.Base, in.Bundles, now.Head)
	}
	second := work(t, o, in, "three")
	second.Status = instance.Failure
	in = r.report("a/child", second)

	last := r.in("a/child/chain", "doing")
	if last.Base != in.Head || len(last.Bundles) != 3 {
		t.Errorf("it starts at %s with %v, want %s", last.Base, last.Bundles, in.Head)
	}
	tree, err := node(t, o).Checkout(t.Context(),
		workspace.Spec{Repo: "a", Bundles: []string{last.Bundles[0].Object, last.Bundles[1].Object, last.Bundles[2].Object}, Base: last.Base})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for _, file := range []string{"one", "two", "three"} {
		if _, err := os.Stat(filepath.Join(tree.Dir, file)); err != nil {
			t.Error(err)
		}
	}
}
