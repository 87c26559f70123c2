package workspace_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
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

func TestWhatNoChangeMayHaveIsLeftOutAndTheRestIsTaken(t *testing.T) {
	parent := newEnv(t)
	for name, c := range map[string]struct {
		script string
		left   []string
		change []string // beside new.txt
	}{
		"a link out": {"ln -s /usr/lib/node_modules node_modules; ln -s ../../x doc/out; ln -s main.go in", []string{"doc/out", "node_modules"}, []string{"in"}},
		"files of tools": {"echo S=1 | tee .env .DS_Store main.go.orig main.go.rej nohup.out core.1234 a.swp b~; mkdir .idea; echo x > .idea/ws.xml; echo x > core.js",
			[]string{".DS_Store", ".env", ".idea/", "a.swp", "b~", "core.1234", "main.go.orig", "main.go.rej", "nohup.out"}, []string{"core.js"}},
		"a clone within": {"git init -q third/dep; echo x > third/dep/x; git -C third/dep add x; git -C third/dep -c user.name=a -c user.email=b commit -qm x; echo x > third/y",
			[]string{"third/dep"}, []string{"third/y"}},
		"a project that a generator made":  {"git init -q app; echo x > app/x", []string{"app/.git"}, []string{"app/x"}},
		"a repository among tracked files": {"git init -q doc; git -C doc add -A; git -C doc -c user.name=a -c user.email=b commit -qm x; echo x > doc/x", []string{"doc/.git"}, []string{"doc/x"}},
		"names that do not show": {"echo x > \"$(printf 'a\\tb')\"; echo x > \"$(printf 'a\\nb')\"; mkdir \"$(printf 'd\\001')\"; echo x > \"$(printf 'd\\001')\"/x",
			[]string{"a\tb", "a\nb", "d\x01"}, nil},
		"also where the program commits": {"echo S=1 > .env; ln -s /etc out; git add -f -A; git commit -qm all", []string{".env", "out"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := parent.in(t)
			tree := w.tree()
			w.program(tree, c.script+"; echo x > new.txt")
			want := append([]string{"new.txt"}, c.change...)
			slices.Sort(want)
			if got := changed(t, tree); !slices.Equal(got, want) {
				t.Errorf("the change is %q, want %q", got, want)
			}
			if left, err := tree.Leftover(t.Context()); err != nil || !slices.Equal(left, c.left) {
				t.Errorf("left out are %q, %v; want %q", left, err, c.left)
			}
			if found, err := tree.Check(t.Context(), outbound.DefaultRules()); err != nil || len(found) > 0 {
				t.Errorf("found %v, %v", found, err)
			}
		})
	}
}

func TestWorkThatAProgramSetAsideIsTakenWhereTheTreeHasNone(t *testing.T) {
	parent := newEnv(t)
	const fix = "echo fix > main.go; echo new > new.txt; "
	for name, c := range map[string]struct {
		script string
		change []string
		says   string
	}{
		"a stash":                  {fix + "git stash -q", []string{"main.go"}, "was in the stash"},
		"a stash with new files":   {fix + "git stash -q -u", []string{"main.go", "new.txt"}, "was in the stash"},
		"a stash beside a change":  {fix + "git stash -q; echo other > other.txt", []string{"new.txt", "other.txt"}, "no part of the change"},
		"a branch":                 {fix + "git checkout -q -b fix; git add -A; git commit -qm Fix; git checkout -q signalbox/issue-1", []string{"main.go", "new.txt"}, "on another branch"},
		"two branches":             {fix + "git checkout -q -b a; git commit -qam a; git checkout -q -b b; git commit -q --allow-empty -m b; git checkout -q signalbox/issue-1; rm new.txt", nil, ""},
		"a branch beside a change": {fix + "git checkout -q -b fix; git commit -qam Fix; git checkout -q signalbox/issue-1", []string{"new.txt"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := parent.in(t)
			tree := w.tree()
			w.program(tree, strings.Replace(c.script, "echo new > new.txt; git stash -q", "echo new > new.txt; rm new.txt; git stash -q", map[bool]int{true: 1}[name == "a stash"]))
			if got := changed(t, tree); !slices.Equal(got, c.change) {
				t.Errorf("the change is %q, want %q", got, c.change)
			}
			if said := tree.Aside(); !strings.Contains(said, c.says) || c.says == "" && said != "" {
				t.Errorf("it says %q, want %q", said, c.says)
			}
			if c.change == nil {
				return
			}
			w.commit(tree, "Fix")
			if got := changed(t, tree); len(got) > 0 {
				t.Errorf("after the commit the change is %q", got)
			}
		})
	}
}
