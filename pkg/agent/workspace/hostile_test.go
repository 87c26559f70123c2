package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/git"
)

func TestWhatAProgramDoesToItsTree(t *testing.T) {
	parent := newEnv(t)
	for name, c := range map[string]struct {
		script string
		want   error
	}{
		"deletes it":                       {`rm -rf "$PWD"`, workspace.ErrGone},
		"puts a link in its place":         {`d="$PWD"; cd ..; rm -rf "$d"; ln -s /etc "$d"`, workspace.ErrGone},
		"breaks its repository":            {"echo nonsense > .git/HEAD", workspace.ErrUnreadable},
		"points its repository elsewhere":  {"rm -rf .git; echo 'gitdir: /tmp' > .git", workspace.ErrUnreadable},
		"cuts its history off":             {"git commit -q --allow-empty -m x; git rev-parse HEAD > .git/shallow; echo x > x", nil},
		"removes its repository":           {"rm -rf .git; echo x > x", nil},
		"starts its repository afresh":     {"rm -rf .git; git init -q; echo x > x", nil},
		"makes everything read-only":       {"mkdir d; echo x > d/x; chmod -R a-w d", nil},
		"has a repository without commits": {"git init -q sub; echo x > sub/x", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := parent.in(t)
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
	w := newEnv(t)
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
	if _, err := tree.Check(t.Context(), outbound.DefaultRules()); err != nil {
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

// git reads a nested repository with its own configuration, and what its
// .gitmodules says of it goes before diff.ignoreSubmodules.
func TestFiltersOfANestedRepositoryNeverRun(t *testing.T) {
	parent := newEnv(t)
	for name, c := range map[string]struct {
		prepare string
		paths   []string // of the violations
	}{
		"not committed":            {"", []string{".gitmodules"}},
		"committed as a submodule": {"git add -A; git commit -qm sub; ", []string{".gitmodules"}},
		"below a directory":        {"mkdir deep; mv sub deep; sed -i 's#path = sub#path = deep/sub#' .gitmodules; ", []string{".gitmodules"}},
		"ignored":                  {"mkdir vendor; mv sub vendor; echo /vendor/ > .gitignore; rm .gitmodules; ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := parent.in(t)
			tree := w.tree()
			trap := filepath.Join(t.TempDir(), "sprung")
			w.program(tree, `
				git init -q sub
				echo x > sub/x
				git -C sub add x
				git -C sub -c user.name=a -c user.email=b commit -qm x
				printf '[submodule "sub"]\n\tpath = sub\n\turl = .\n\tignore = none\n' > .gitmodules
				`+c.prepare+`
				cd "$(dirname "$(find . -name x -path '*sub/x')")"
				printf '* filter=x\n' > .git/info/attributes
				git config filter.x.clean 'touch `+trap+`; cat'
				echo y > x`)
			for range 2 {
				_, diff := tree.Diff(t.Context())
				if diff != nil {
					t.Errorf("diff: %v", diff)
				}
				found, err := tree.Check(t.Context(), outbound.DefaultRules())
				if err != nil {
					t.Fatal(err)
				}
				var paths []string
				for _, v := range found {
					paths = append(paths, v.Path)
				}
				if !slices.Equal(paths, c.paths) {
					t.Errorf("violations at %q, want %q", paths, c.paths)
				}
			}
			if _, err := os.Stat(trap); err == nil {
				t.Error("the filter of the nested repository ran")
			}
		})
	}
}

// A program that could write to the cache must not have the next git read more
// than a plain repository.
func TestWhatIsPlantedInTheCacheIsRemoved(t *testing.T) {
	w := newEnv(t)
	tree := w.tree()
	repo := filepath.Dir(tree.Shared)
	trap := filepath.Join(t.TempDir(), "sprung")
	w.program(tree, `
		cd `+repo+`
		mkdir -p evil info hooks worktrees/x modules/y objects/info
		printf '[core]\n\tsshCommand = touch `+trap+`\n\tfsmonitor = touch `+trap+`\n[url "ssh://x/"]\n\tinsteadOf = /\n' > evil/config
		cp -r objects refs HEAD evil
		echo "$PWD/evil" > commondir
		echo '* filter=x' > info/attributes
		echo /etc > objects/info/alternates
		printf '#!/bin/sh\ntouch `+trap+`\n' > hooks/post-checkout; chmod +x hooks/post-checkout`)
	next := w.tree()
	w.program(next, "echo x > x")
	w.commit(next, "X")
	if _, err := os.Stat(trap); err == nil {
		t.Error("a command of the planted configuration ran")
	}
	for _, name := range []string{"commondir", "info", "hooks", "worktrees", "modules", "evil", "objects/info/alternates"} {
		if _, err := os.Lstat(filepath.Join(repo, name)); err == nil {
			t.Errorf("%s is there still", name)
		}
	}
}

func TestTheCachesConfigurationIsPutBack(t *testing.T) {
	w := newEnv(t)
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
