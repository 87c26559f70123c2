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

func TestSnapshotOnlyReadsItsSource(t *testing.T) {
	w := newEnv(t)
	write(t, w.source, "main.go", "uncommitted")
	write(t, w.source, "untracked", "x")
	w.run(w.git, "add", "main.go")
	before := w.run(w.git, "status", "--porcelain") + w.run(w.git, "show-ref") + read(t, w.source, ".git/HEAD")
	w.run(w.git, "branch", "side")
	before = strings.ReplaceAll(before, "\n", "")
	if _, _, err := w.newNode().Snapshot(t.Context(), "r", workspace.Remote{URL: w.source}, "side"); err != nil {
		t.Fatal(err)
	}
	w.run(w.git, "branch", "-d", "side")
	after := strings.ReplaceAll(w.run(w.git, "status", "--porcelain")+w.run(w.git, "show-ref")+read(t, w.source, ".git/HEAD"), "\n", "")
	if before != after {
		t.Errorf("source before:\n%s\nafter:\n%s", before, after)
	}
}

func TestSnapshotOfTheSameCommitIsTheSameObject(t *testing.T) {
	w := newEnv(t)
	base, object, err := w.newNode().Snapshot(t.Context(), "acme/widgets", workspace.Remote{URL: w.source}, "main")
	if err != nil || base != w.base || object != w.bundle || len(w.store.objects) != 1 {
		t.Errorf("%s %s %v; objects %v", base, object, err, w.store.names())
	}
	t.Run("and a detached HEAD does as well", func(t *testing.T) {
		w.run(w.git, "checkout", "--quiet", "--detach")
		if base, _, err := w.node.Snapshot(t.Context(), "acme/widgets", workspace.Remote{URL: w.source}, ""); err != nil || base != w.base {
			t.Errorf("%s %v", base, err)
		}
	})
}

func TestSnapshotOfWhatIsNoSourceIsRefusedClearly(t *testing.T) {
	w := newEnv(t)
	empty, shallow := t.TempDir(), filepath.Join(t.TempDir(), "shallow")
	w.run(git.New(empty), "init", "--quiet")
	w.program(w.tree(), "echo two > two; git add two; git commit -qm two; git push -q "+w.source+" HEAD:refs/heads/two")
	w.run(git.New(""), "clone", "--quiet", "--depth=1", "--branch=two", "file://"+w.source, shallow)
	for name, c := range map[string]struct{ url, branch, want string }{
		"no repository":      {t.TempDir(), "", "is not a git repository"},
		"no such directory":  {filepath.Join(t.TempDir(), "x"), "", "is not a git repository"},
		"no commit":          {empty, "", "has no commit yet"},
		"no such branch":     {w.source, "nope", "has no branch nope"},
		"a shallow clone":    {shallow, "", "git fetch --unshallow"},
		"nothing named":      {"", "", "no URL"},
		"an option as a URL": {"--upload-pack=touch x", "", "is not a git repository"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := w.node.Snapshot(t.Context(), "r", workspace.Remote{URL: c.url}, c.branch)
			if !errors.Is(err, workspace.ErrSource) || !strings.Contains(err.Error(), c.want) || errors.Is(err, brain.ErrInfrastructure) {
				t.Errorf("err %v", err)
			}
		})
	}
	t.Run("a server that is not there is an infrastructure fault", func(t *testing.T) {
		_, _, err := w.node.Snapshot(t.Context(), "r", workspace.Remote{URL: "http://127.0.0.1:1/x.git", Token: "t0ken"}, "")
		if !errors.Is(err, brain.ErrInfrastructure) || strings.Contains(err.Error(), "t0ken") {
			t.Errorf("err %v", err)
		}
	})
}

// delivery is finished work and an empty bare repository to bring it to.
func delivery(t *testing.T) (*env, *workspace.Tree, workspace.Delivery, git.Runner) {
	w := newEnv(t)
	tree := w.tree()
	w.program(tree, "echo fix > fix")
	head := w.commit(tree, "Fix")
	forge := filepath.Join(t.TempDir(), "forge.git")
	w.run(git.New(""), "clone", "--quiet", "--bare", w.source, forge)
	return w, tree, workspace.Delivery{
		Repo: "acme/widgets", Bundles: []string{w.bundle, w.bundleOf(tree)}, Head: head,
		To: workspace.Remote{URL: forge}, Branch: "signalbox/issue-1",
	}, git.New(forge)
}

// push inspects and pushes.
func push(t *testing.T, node *workspace.Cache, d workspace.Delivery) (bool, error) {
	t.Helper()
	change, err := node.Inspect(t.Context(), d)
	if err != nil {
		return false, err
	}
	return node.Push(t.Context(), d.Repo, change, d.To)
}

func TestPushBringsTheBranchFromBundlesOnce(t *testing.T) {
	w, tree, d, forge := delivery(t)
	node := w.newNode()
	for _, want := range []bool{true, false} {
		pushed, err := push(t, node, d)
		if err != nil || pushed != want {
			t.Fatalf("pushed %v, %v; want %v", pushed, err, want)
		}
	}
	if got := w.run(forge, "rev-parse", "refs/heads/"+d.Branch); got != d.Head {
		t.Errorf("branch is at %s", got)
	}
	t.Run("and goes on from there", func(t *testing.T) {
		w.program(tree, "echo more >> fix")
		d.Head, d.Bundles = w.commit(tree, "More"), []string{w.bundle, w.bundleOf(tree)}
		if pushed, err := push(t, node, d); err != nil || !pushed {
			t.Errorf("pushed %v, %v", pushed, err)
		}
	})
}

func TestADeliveryMayProtectMorePaths(t *testing.T) {
	w, _, d, _ := delivery(t)
	d.Protected = []string{"FIX"}
	if _, err := push(t, w.newNode(), d); !errors.As(err, new(*outbound.Refusal)) {
		t.Errorf("it ended with %v", err)
	}
	d.Protected = []string{"infra/**"}
	if _, err := push(t, w.newNode(), d); err != nil {
		t.Error(err)
	}
}

func TestPushNeverForces(t *testing.T) {
	for name, known := range map[string]bool{"over commits never seen": false, "over commits it has": true} {
		t.Run(name, func(t *testing.T) {
			w, _, d, forge := delivery(t)
			foreign := w.run(forge.WithIdentity("Eve", "e@example.org"), "commit-tree", "-p", w.base, "-m", "theirs", w.base+"^{tree}")
			w.run(forge, "update-ref", "refs/heads/"+d.Branch, foreign)
			if known {
				if _, _, err := w.node.Snapshot(t.Context(), d.Repo, d.To, d.Branch); err != nil {
					t.Fatal(err)
				}
			}
			_, err := push(t, w.node, d)
			if !errors.Is(err, workspace.ErrForeign) || !strings.Contains(err.Error(), foreign) || errors.Is(err, brain.ErrInfrastructure) {
				t.Errorf("err %v", err)
			}
			if got := w.run(forge, "rev-parse", "refs/heads/"+d.Branch); got != foreign {
				t.Errorf("branch is at %s", got)
			}
		})
	}
}

func TestARefusedPushHasTheWordsOfTheForgeAndNotTheCommandOfGit(t *testing.T) {
	w, _, d, forge := delivery(t)
	hook := filepath.Join(forge.Dir(), "hooks", "pre-receive")
	write(t, filepath.Dir(hook), "pre-receive", "#!/bin/sh\necho protected by policy 7 >&2\necho >&2\necho ask ann >&2\nexit 1\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := push(t, w.node, d)
	want := "push refused by the forge: " + d.Branch + ": remote rejected (pre-receive hook declined); protected by policy 7; ask ann"
	if !errors.Is(err, workspace.ErrRejected) || errors.Is(err, brain.ErrInfrastructure) || err.Error() != want {
		t.Errorf("err %v, want %s", err, want)
	}
	failed := new(git.Error)
	if !errors.As(err, &failed) || !slices.Contains(failed.Args, "push") {
		t.Errorf("the cause is %v, want the run of git", failed)
	}
}

func TestPushRefusesABadBranchAndAMissingBundle(t *testing.T) {
	w, _, d, _ := delivery(t)
	bad := d
	bad.Branch = "a b"
	if _, err := push(t, w.node, bad); err == nil {
		t.Error("a bad branch was taken")
	}
	w.store.objects = map[string][]byte{}
	if _, err := push(t, w.newNode(), d); !errors.Is(err, brain.ErrInfrastructure) {
		t.Errorf("err %v", err)
	}
}
