package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/git"
)

// modes runs the test without a sandbox, and in the best that works here.
func modes(t *testing.T, test func(t *testing.T, s sandbox.Sandbox)) {
	for _, mode := range []sandbox.Mode{sandbox.None, sandbox.Auto} {
		t.Run(string(mode), func(t *testing.T) {
			s, err := sandbox.New(t.Context(), mode)
			if errors.Is(err, sandbox.ErrUnconfined) {
				t.Skip("not on this machine: ", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			test(t, s)
		})
	}
}

// intake is the limits of the tests.
func intake() workspace.Intake {
	return workspace.Intake{Wall: 20 * time.Second, Files: 300, Bytes: 8 << 20, Object: 1 << 20, Objects: 1000}
}

// guarded returns the environment with a cache whose git reads trees in the sandbox, and what
// it refuses.
func (e env) guarded(t *testing.T, s sandbox.Sandbox, limits workspace.Intake) (*env, *[]string) {
	var refused []string
	dir := t.TempDir()
	c, err := workspace.New(workspace.Config{
		Dir: dir, Objects: e.store, Sandbox: s.Hiding(dir), Intake: limits,
		Refused: func(r *workspace.Refused) { refused = append(refused, r.Rule+": "+r.Detail) },
	})
	if err != nil {
		t.Fatal(err)
	}
	e.t, e.node = t, c
	return &e, &refused
}

// private is a repository of the same user that no program is shown. It returns its git
// directory and the id of its only file.
func private(t *testing.T) (dir, blob string) {
	w := env{t: t, source: t.TempDir()}
	g := git.New(w.source).WithIdentity("Ada", "ada@example.org")
	w.run(g, "init", "--quiet")
	write(t, w.source, "formula", "PRIVATE-FORMULA\n")
	w.run(g, "add", "-A")
	w.run(g, "commit", "--quiet", "-m", "private")
	return filepath.Join(w.source, ".git"), w.run(g, "rev-parse", "HEAD:formula")
}

func TestNothingOutsideFollowsTheGitDirectoryOfAProgram(t *testing.T) {
	parent := newEnv(t)
	const own = "echo own > own; git add own; git commit -qm own; "
	for name, c := range map[string]struct {
		script string // P is the private git directory, B its file's id
		refuse string // begins what is refused; empty: the tree is taken in
		says   string // is part of it
		commit bool   // the program's own commit is taken in as well
	}{
		"links in place of the references and the objects": {
			`rm -rf .git/refs .git/objects .git/packed-refs; ln -s "$P/refs" .git/refs; ln -s "$P/objects" .git/objects
			echo "ref: refs/heads/main" > .git/HEAD`, "git", ".git/refs", false},
		"a link in place of HEAD":                {`rm .git/HEAD; ln -s "$P/HEAD" .git/HEAD`, "git", ".git/HEAD", false},
		"a link in place of the packed refs":     {`rm -f .git/packed-refs; ln -s "$P/HEAD" .git/packed-refs`, "git", ".git/packed-refs", false},
		"a link among the references":            {`ln -s "$P/refs/heads" .git/refs/heads/x`, "git", ".git/refs/heads/x", false},
		"a link in place of the packs":           {`rm -rf .git/objects/pack; ln -s "$P/objects/pack" .git/objects/pack`, "git", ".git/objects/pack", false},
		"a link in place of an object":           {`d=$(echo "$B" | cut -c1-2); mkdir -p .git/objects/$d; ln -s "$P/objects/$d/$(echo "$B" | cut -c3-)" .git/objects/$d/`, "git", ".git/objects/", false},
		"a link in place of the directory":       {`rm -rf .git; ln -s "$P" .git`, "git", "not a directory", false},
		"a file that names another directory":    {`rm -rf .git; echo "gitdir: $P" > .git`, "git", "not a directory", false},
		"no references":                          {`rm -rf .git/refs`, "git", "no git directory", false},
		"pipes in place of HEAD and packed refs": {`rm -f .git/HEAD .git/packed-refs; mkfifo .git/HEAD .git/packed-refs`, "git", ".git/HEAD", false},
		"a pipe among the references":            {`mkfifo .git/refs/heads/x`, "git", ".git/refs/heads/x", false},
		"a pipe among the objects":               {`mkdir -p .git/objects/ab; mkfifo .git/objects/ab/$(printf %038d 0)`, "git", ".git/objects/ab", false},
		"a reference that leaves the directory":  {`echo "ref: refs/../../../../../..$P/refs/heads/main" > .git/HEAD`, "", "", false},
		"a HEAD of nonsense":                     {`echo nonsense > .git/HEAD`, "git", "not a git repository", false},

		"a common directory":               {own + `echo "$P" > .git/commondir`, "", "", true},
		"a pipe in place of configuration": {own + `rm .git/config; mkfifo .git/config .git/config.worktree .git/shallow .git/commondir`, "", "", true},
		"a configuration that includes":    {own + `printf '[include]\n\tpath = %s/config\n[core]\n\tfsmonitor = touch sprung\n\talternateRefsCommand = touch sprung\n[uploadpack]\n\tpackObjectsHook = touch sprung\n' "$P" >> .git/config`, "", "", true},
		"grafts":                           {own + `mkdir -p .git/info; git rev-parse HEAD > .git/info/grafts`, "", "", true},
		"a shallow history":                {own + `git rev-parse HEAD > .git/shallow`, "", "", true},
		"a replacement of a commit":        {own + `git replace HEAD HEAD~1`, "", "", true},
		"worktrees and modules":            {own + `mkdir -p .git/worktrees/x .git/modules/y; echo "$P" > .git/worktrees/x/gitdir; echo "$P" > .git/worktrees/x/commondir; cp .git/config .git/modules/y`, "", "", true},
		"links among hooks and settings":   {own + `mkdir -p .git/hooks .git/info; ln -s "$P/config" .git/hooks/pre-commit; ln -sf "$P/config" .git/info/attributes; rm -f .git/index; ln -s "$P/index" .git/index`, "", "", true},
		"packs with deltas":                {own + `git repack -qadf --depth=50; git prune-packed`, "", "", true},
		"alternates over the network":      {own + `echo "file://$P/objects" > .git/objects/info/http-alternates`, "", "", true},
		"a history of its own":             {`rm -rf .git; git init -q; git add -A; git -c user.name=a -c user.email=b commit -qm other; git rev-parse HEAD > ../tip; git -c core.bare=false status >&2`, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			modes(t, func(t *testing.T, s sandbox.Sandbox) {
				w, refused := parent.guarded(t, s, intake())
				p, blob := private(t)
				tree := w.tree()
				w.program(tree, "P='"+p+"' B="+blob+"; echo x > x; "+c.script)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				diff, err := tree.Diff(ctx)
				var r *workspace.Refused
				switch {
				case errors.Is(err, brain.ErrInfrastructure):
					t.Errorf("blamed on the infrastructure: %v", err)
				case c.refuse == "" && err != nil, c.refuse != "" && !errors.Is(err, workspace.ErrUnreadable):
					t.Errorf("err = %v", err)
				case c.refuse == "" && len(diff.Files) == 0:
					t.Error("the files are not read")
				case c.refuse == "git" && (!errors.As(err, &r) || r.Rule != c.refuse || !strings.Contains(r.Detail, c.says) || len(*refused) != 1):
					t.Errorf("%v, and told is %q", err, *refused)
				}
				if c.commit {
					w.commit(tree, "Rest")
					if got := w.run(git.New(tree.Dir), "log", "-2", "--format=%s"); got != "Rest\nown" {
						t.Errorf("history:\n%s", got)
					}
				}
				in := w.run(git.New(filepath.Dir(tree.Shared)), "cat-file", "--batch-all-objects", "--batch-check")
				if strings.Contains(in, blob) {
					t.Error("the private file is among the objects that the next program is shown")
				}
				if tip, err := os.ReadFile(filepath.Join(filepath.Dir(tree.Dir), "tip")); err == nil && strings.Contains(in, strings.TrimSpace(string(tip))) {
					t.Error("a commit of another history came in")
				}
				if _, err := os.Stat(filepath.Join(tree.Dir, "sprung")); err == nil {
					t.Error("a command of the program's configuration ran")
				}
			})
		})
	}
}

// What the sandbox does not show, the program's alternates do not bring in either.
func TestAlternatesOfAProgramReachNoOtherRepository(t *testing.T) {
	parent := newEnv(t)
	modes(t, func(t *testing.T, s sandbox.Sandbox) {
		if !s.Confines() {
			t.Skip("the program reads it by itself")
		}
		w, _ := parent.guarded(t, s, intake())
		p, blob := private(t)
		tree := w.tree()
		w.program(tree, `echo "`+p+`/objects" >> .git/objects/info/alternates
			git update-index --add --cacheinfo 100644,`+blob+`,stolen; git commit -qm own`)
		if _, err := tree.Diff(t.Context()); !errors.Is(err, workspace.ErrUnreadable) {
			t.Errorf("err = %v", err)
		}
		if in := w.run(git.New(filepath.Dir(tree.Shared)), "cat-file", "--batch-all-objects", "--batch-check"); strings.Contains(in, blob) {
			t.Error("the private file came in")
		}
	})
}

func TestWhatIsTooMuchIsRefusedByName(t *testing.T) {
	parent := newEnv(t)
	for name, c := range map[string]struct {
		script, rule, says string
		limits             func(*workspace.Intake)
	}{
		"a sparse file":                    {`truncate -s 7G big`, "size", `"big" with 7516192768`, nil},
		"many empty files":                 {`i=0; mkdir d; while [ $i -lt 400 ]; do : > d/$i; i=$((i+1)); done`, "files", "400 files are new or changed, more than the 300", nil},
		"a commit with a bomb":             {`b=$(head -c 5000000 /dev/zero | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$b,bomb; git commit -qm bomb; git rm -q --cached bomb; git commit -qm rest`, "size", "an object of 5000000 bytes", nil},
		"many commits":                     {`i=0; while [ $i -lt 12 ]; do git commit -q --allow-empty -m $i; i=$((i+1)); done`, "size", "objects, more than the 10", func(i *workspace.Intake) { i.Objects = 10 }},
		"a pipe in place of a file":        {`rm main.go; mkfifo main.go`, "git", "main.go", nil},
		"a pipe that git would read":       {`rm -f .gitignore; mkfifo .gitignore`, "files", ".gitignore", nil},
		"a pipe below that git would read": {`mkdir -p a/b; mkfifo a/b/.gitattributes`, "files", "a/b/.gitattributes", nil},
	} {
		t.Run(name, func(t *testing.T) {
			modes(t, func(t *testing.T, s sandbox.Sandbox) {
				limits := intake()
				if c.limits != nil {
					c.limits(&limits)
				}
				w, refused := parent.guarded(t, s, limits)
				tree := w.tree()
				w.program(tree, c.script)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := tree.Diff(ctx)
				var r *workspace.Refused
				if !errors.As(err, &r) || r.Rule != c.rule || !strings.Contains(r.Detail, c.says) || len(*refused) != 1 {
					t.Errorf("%v, and told is %q", err, *refused)
				}
			})
		})
	}
}

// Git that hangs is ended, whatever it waits for.
func TestReadingATreeEnds(t *testing.T) {
	parent := newEnv(t)
	modes(t, func(t *testing.T, s sandbox.Sandbox) {
		limits := intake()
		limits.Wall = time.Second
		w, refused := parent.guarded(t, s, limits)
		tree := w.tree()
		if err := os.Remove(filepath.Join(filepath.Dir(tree.Dir), "exclude")); err != nil {
			t.Fatal(err)
		}
		w.program(tree, "mkfifo ../exclude") // stands for whatever may make git wait
		_, err := tree.Diff(t.Context())
		var r *workspace.Refused
		if !errors.As(err, &r) || r.Rule != "time" || len(*refused) != 1 {
			t.Errorf("%v, and told is %q", err, *refused)
		}
	})
}

func TestWhatIsAFileCountsAndNothingElse(t *testing.T) {
	parent := newEnv(t)
	modes(t, func(t *testing.T, s sandbox.Sandbox) {
		w, _ := parent.guarded(t, s, intake())
		tree := w.tree()
		w.program(tree, `printf '#!/bin/sh\n' > run; chmod +x run; ln -s run link; mkfifo pipe; echo set > set; chmod 6755 set
			python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")' 2>/dev/null || true`)
		head := w.commit(tree, "Files")
		want := "100755 run\n100755 set\n120000 link"
		got := strings.Split(w.run(git.New(filepath.Dir(tree.Shared)), "diff-tree", "-r", "--diff-filter=A", w.base, head), "\n")
		var lines []string
		for _, l := range got {
			f := strings.Fields(l)
			lines = append(lines, f[1]+" "+f[5])
		}
		for _, l := range strings.Split(want, "\n") {
			if !strings.Contains(strings.Join(lines, "\n"), l) {
				t.Errorf("%q is not in %q", l, lines)
			}
		}
		if len(lines) != 3 {
			t.Errorf("taken in: %q", lines)
		}
	})
}

func TestACommitOfManyFilesIsOnePackAndAFewAreLooseObjects(t *testing.T) {
	w := newEnv(t)
	tree := w.tree()
	packs := func() int {
		found, err := filepath.Glob(filepath.Join(tree.Shared, "pack", "*.idx"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	before := packs()
	w.program(tree, "echo x > x")
	w.commit(tree, "One")
	if packs() != before {
		t.Error("one file is a pack")
	}
	w.program(tree, "mkdir d; i=0; while [ $i -lt 150 ]; do echo $i > d/$i; i=$((i+1)); done")
	w.commit(tree, "Many")
	if packs() != before+1 {
		t.Error("many files are no pack")
	}
	w.run(git.New(filepath.Dir(tree.Shared)), "fsck", "--strict", "--no-dangling")
}

// BenchmarkIntake reads back a tree of 5,000 files with one that changed.
func BenchmarkIntake(b *testing.B) {
	for _, mode := range []sandbox.Mode{sandbox.None, sandbox.Bwrap, sandbox.Landlock} {
		b.Run("mode="+string(mode), func(b *testing.B) {
			s, err := sandbox.New(b.Context(), mode)
			if err != nil {
				b.Skip("not on this machine: ", err)
			}
			source := b.TempDir()
			for i := range 5000 {
				dir := filepath.Join(source, "d"+string(rune('a'+i%26)), "e"+string(rune('a'+i/26%26)))
				if err := os.MkdirAll(dir, 0o755); err != nil {
					b.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, time.Duration(i).String()), []byte(strings.Repeat("line\n", 200)), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			g := git.New(source).WithIdentity("Ada", "ada@example.org")
			for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "x"}} {
				if _, err := g.Run(b.Context(), args...); err != nil {
					b.Fatal(err)
				}
			}
			c, err := workspace.New(workspace.Config{Dir: b.TempDir(), Objects: newStore(), Sandbox: s})
			if err != nil {
				b.Fatal(err)
			}
			base, bundle, err := c.Snapshot(b.Context(), "acme/large", workspace.Remote{URL: source}, "")
			if err != nil {
				b.Fatal(err)
			}
			tree, err := c.Checkout(b.Context(), workspace.Spec{Repo: "acme/large", Base: base, Bundles: []string{bundle}})
			if err != nil {
				b.Fatal(err)
			}
			defer tree.Close()
			n := 0
			for b.Loop() {
				n++
				if err := os.WriteFile(filepath.Join(tree.Dir, "changed"), []byte(time.Duration(n).String()), 0o644); err != nil {
					b.Fatal(err)
				}
				if _, err := tree.Diff(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
