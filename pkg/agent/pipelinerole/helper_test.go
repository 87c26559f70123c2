package pipelinerole_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// change makes a repository with a commit of before and one of after on top.
func change(t *testing.T, before, after map[string]string) brain.Assignment {
	t.Helper()
	repo := gittest.Repo(t)
	dir := repo.Dir()
	commit := func(files map[string]string) string {
		t.Helper()
		for name, content := range files {
			name = filepath.Join(dir, name)
			if content == "" {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		gittest.Run(t, repo, "add", "-A", "-f")
		gittest.Run(t, repo, "commit", "-q", "--allow-empty", "-m", "x")
		return gittest.Run(t, repo, "rev-parse", "HEAD")
	}
	base := commit(before)
	return brain.Assignment{State: "reviewing_code", Dir: dir, Base: base, Head: commit(after)}
}
