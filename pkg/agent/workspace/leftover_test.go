package workspace_test

import (
	"slices"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
)

func TestWhatToolsLeaveForThemselvesIsNoPartOfAChange(t *testing.T) {
	w := newEnv(t)
	tree := w.tree()
	w.program(tree, `mkdir -p .claude web/node_modules/left-pad/.git .opencode/x src/.claude; echo '*.tmp' > .gitignore
		for f in .claude/settings.local.json web/node_modules/left-pad/index.js .opencode/x/y .aider.chat.history.md a.tmp new.txt src/.claude/x; do echo x > $f; done`)
	left, err := tree.Leftover(t.Context())
	if want := []string{".aider.chat.history.md", ".claude/", ".opencode/", "web/node_modules/"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left %q, %v; want %q", left, err, want)
	}
	if want := []string{".gitignore", "new.txt", "src/.claude/x"}; !slices.Equal(changed(t, tree), want) {
		t.Errorf("the change is %q, want %q", changed(t, tree), want)
	}
}

func TestWhatTheBaseTracksOfItIsPartOfAChange(t *testing.T) {
	w := newEnv(t)
	write(t, w.source, ".claude/commands/a.md", "x\n")
	write(t, w.source, "web/node_modules/own/a.js", "x\n")
	w.run(w.git, "add", "-A")
	w.run(w.git, "commit", "--quiet", "-m", "second")
	var err error
	if w.base, w.bundle, err = w.node.Snapshot(t.Context(), "acme/widgets", workspace.Remote{URL: w.source}, ""); err != nil {
		t.Fatal(err)
	}
	tree := w.tree()
	w.program(tree, "mkdir .codex; echo y | tee .claude/commands/a.md .claude/b .codex/x > web/node_modules/own/b.js")
	if got, want := changed(t, tree), []string{".claude/b", ".claude/commands/a.md", "web/node_modules/own/b.js"}; !slices.Equal(got, want) {
		t.Errorf("the change is %q, want %q", got, want)
	}
}

func TestWhatIsThereWhenATreeIsSettledIsNoPartOfAChange(t *testing.T) {
	w := newEnv(t)
	tree := w.tree()
	w.program(tree, "mkdir -p dist '[a]' node_modules/x; echo x > node_modules/x/y; echo x | tee dist/a '[a]/b' 'odd*name ' > x.log; echo y > main.go; rm .gitignore")
	if err := tree.StartChange(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := changed(t, tree); len(got) != 0 {
		t.Errorf("the change is %q", got)
	}
	w.program(tree, "test -e dist/a; test -e '[a]/b'; echo z > main.go; mkdir a; echo x > a/b; echo x > oddname")
	if left, err := tree.Leftover(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("left %q, %v", left, err)
	}
	if got, want := changed(t, tree), []string{"a/b", "main.go", "oddname"}; !slices.Equal(got, want) {
		t.Errorf("the change is %q, want %q", got, want)
	}
}

// changed is the paths of the files that differ.
func changed(t *testing.T, tree *workspace.Tree) []string {
	t.Helper()
	d, err := tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range d.Files {
		paths = append(paths, f.Path)
	}
	return paths
}
