package workspace_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
)

func TestDiffIsReadWithGit(t *testing.T) {
	w := newEnv(t)
	tree := w.tree()
	d, err := tree.Diff(t.Context())
	if err != nil || !d.Empty() || d.Patch != "" {
		t.Fatalf("untouched tree: %+v, %v", d, err)
	}
	w.program(tree, `echo "// more" >> main.go; rm "doc/a b.txt"; printf 'a\0b' > bin; echo noise > x.log; mkdir "ü"; echo hi > "ü/new line"`)
	d, err = tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []workspace.File{
		{Path: "bin", Status: "A", Binary: true},
		{Path: "doc/a b.txt", Status: "D", Deleted: 2},
		{Path: "main.go", Status: "M", Added: 1},
		{Path: "ü/new line", Status: "A", Added: 1},
	}
	if !slices.Equal(d.Files, want) || d.Cut || !strings.Contains(d.Patch, "+// more") || d.String() != "4 files, +2 -2 lines" {
		t.Errorf("got %q %+v\n%s", d, d.Files, d.Patch)
	}
	t.Run("the same content has the same id", func(t *testing.T) {
		again := w.tree()
		w.program(again, `echo "// more" >> main.go; rm "doc/a b.txt"; printf 'a\0b' > bin; mkdir "ü"; echo hi > "ü/new line"; git add main.go; git commit -qm own`)
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

func TestAChangeIsThatOfTheWholeWork(t *testing.T) {
	w := newEnv(t)
	tree := w.tree()
	w.program(tree, `echo "// more" >> main.go`)
	w.commit(tree, "first step")
	w.program(tree, `echo hi > new`)
	step, err := tree.Diff(t.Context())
	whole, werr := tree.Change(t.Context())
	if err != nil || werr != nil || len(step.Files) != 1 || len(whole.Files) != 2 || whole.Files[0].Path != "main.go" || whole.Files[1].Path != "new" {
		t.Errorf("the step is %+v, %v, the work %+v, %v", step.Files, err, whole.Files, werr)
	}
}
