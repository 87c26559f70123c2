package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
)

// A version is that of the whole path, in the commit that is named, though the listing of a commit is
// read once.
func TestAVersionIsThatOfTheWholePathInItsCommit(t *testing.T) {
	w := newEnv(t)
	for name, text := range map[string]string{"a\tb": "1", "b": "2", "dir/b": "3"} {
		write(t, filepath.Dir(filepath.Join(w.source, name)), filepath.Base(name), text)
	}
	w.run(w.git, "add", "-A")
	w.run(w.git, "commit", "--quiet", "-m", "names")
	base, bundle, err := w.node.Snapshot(t.Context(), "acme/widgets", workspace.Remote{URL: w.source}, "")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := w.node.Checkout(t.Context(), workspace.Spec{Repo: "acme/widgets", Bundles: []string{bundle}, Base: base})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if err := os.WriteFile(filepath.Join(tree.Dir, "b"), []byte("4"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := tree.Commit(t.Context(), "change b"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ commit, name, text string }{
		{base, "a\tb", "1"}, {base, "b", "2"}, {tree.Head, "b", "4"}, {base, "dir/b", "3"},
		{base, "dir", ""}, {base, "ir/b", ""}, {base, "", ""}, {base, "absent", ""},
	} {
		v, err := tree.Version(t.Context(), c.commit, c.name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := tree.Content(t.Context(), v)
		if err != nil || string(text) != c.text {
			t.Errorf("%q of %s is %q, %v, want %q", c.name, c.commit, text, err, c.text)
		}
	}
}
