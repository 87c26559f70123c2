package bare

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

func TestRefsAreThoseThatGitLists(t *testing.T) {
	repos, err := NewRepos(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := repos.Repo("acme/widgets")
	if _, err := r.Create(t.Context(), "", ""); err != nil {
		t.Fatal(err)
	}
	g := r.Runner
	tree := gittest.Run(t, g, "mktree") // of nothing
	commit := func(message string) string { return gittest.Run(t, g, "commit-tree", "-m", message, tree) }
	one, two := commit("one"), commit("two")
	compare := func(when string, fromFiles bool) {
		t.Helper()
		want := map[string]string{}
		for line := range strings.Lines(gittest.Run(t, g, "for-each-ref", "--format=%(objectname) %(refname)")) {
			sha, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
			want[ref] = sha
		}
		got, err := r.Refs(t.Context())
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: the refs are %v, %v, git lists %v", when, got, err, want)
		}
		if _, ok := readRefs(r.Dir()); ok != fromFiles {
			t.Errorf("%s: they are read from the files: %t", when, ok)
		}
	}
	compare("an empty repository", true)
	gittest.Run(t, g, "update-ref", "refs/heads/main", one)
	gittest.Run(t, g, "update-ref", "refs/heads/topic/deep", one)
	gittest.Run(t, g, "update-ref", "refs/pull/1/head", two)
	gittest.Run(t, g, "tag", "-a", "-m", "first", "v1", one)
	compare("loose refs", true)
	gittest.Run(t, g, "pack-refs", "--all")
	compare("packed refs", true)
	gittest.Run(t, g, "update-ref", "refs/heads/main", two)
	gittest.Run(t, g, "update-ref", "-d", "refs/heads/topic/deep")
	compare("a packed ref that moved, and one that is deleted", true)
	if err := os.WriteFile(filepath.Join(r.Dir(), "refs/heads/main.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	compare("the lock of a ref", true)
	gittest.Run(t, g, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
	compare("a symbolic ref", false)
	if refs, err := (Repo{Runner: git.New(t.TempDir())}).Refs(t.Context()); err == nil {
		t.Errorf("a directory that is no repository has the refs %v", refs)
	}
}
