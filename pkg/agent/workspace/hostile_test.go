package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/git"
)

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
