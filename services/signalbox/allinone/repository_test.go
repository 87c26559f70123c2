package allinone_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

func TestARepositoryThatIsNotWholeIsRefusedWithTheCommandThatHelps(t *testing.T) {
	from := gittest.Repo(t)
	gittest.Run(t, from, "config", "uploadpack.allowFilter", "true")
	for _, text := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(from.Dir(), "a"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		gittest.Run(t, from, "add", "a")
		gittest.Run(t, from, "commit", "-q", "-m", text)
	}
	clone := func(flags ...string) string {
		dir := filepath.Join(t.TempDir(), "a clone")
		gittest.Run(t, git.New(""), append(append([]string{"clone", "-q"}, flags...), "file://"+from.Dir(), dir)...)
		return dir
	}
	newer := t.TempDir()
	gittest.Run(t, git.New(newer), "init", "-q")
	for key, value := range map[string]string{"core.repositoryformatversion": "1", "extensions.refStorageNext": "x"} {
		gittest.Run(t, git.New(newer), "config", key, value)
	}
	sha256 := t.TempDir()
	gittest.Run(t, git.New(""), "init", "-q", "--object-format=sha256", sha256)
	for name, c := range map[string]struct{ dir, says string }{
		"a shallow clone":       {clone("--depth", "1"), "run `git -C '"},
		"a partial clone":       {clone("--filter=blob:none"), "1 objects of its history are not there: run `git -C '"},
		"names of sha256":       {sha256, "fast-import"},
		"an extension of later": {newer, "install the git that made it, or a newer one"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := allinone.Repository(t.Context(), c.dir)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("it says %v", err)
			}
			_, command, _ := strings.Cut(err.Error(), "run `git -C '"+c.dir+"' ")
			command, _, found := strings.Cut(command, "`")
			if !found {
				return
			}
			gittest.Run(t, git.New(c.dir), strings.Fields(command)...) // as it says
			if _, err := allinone.Repository(t.Context(), c.dir); err != nil {
				t.Errorf("after %s it says %v", command, err)
			}
		})
	}
}

func TestARepositoryOfAnyOtherKindIsTaken(t *testing.T) {
	from := gittest.Repo(t)
	gittest.Run(t, from, "commit", "-q", "--allow-empty", "-m", "first")
	at := func(name string) string { return filepath.Join(t.TempDir(), name) }
	bare, shared, linked, partial := at("bare.git"), at("shared"), at("linked"), at("partial")
	gittest.Run(t, git.New(""), "clone", "-q", "--bare", from.Dir(), bare)
	gittest.Run(t, git.New(""), "clone", "-q", "--shared", from.Dir(), shared)
	gittest.Run(t, from, "worktree", "add", "-q", "-b", "other", linked)
	gittest.Run(t, from, "config", "uploadpack.allowFilter", "true")
	gittest.Run(t, git.New(""), "clone", "-q", "--filter=blob:limit=1m", "file://"+from.Dir(), partial) // nothing is left out
	below := filepath.Join(shared, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{bare: bare, shared: shared, linked: linked, partial: partial, below: shared} {
		if root, err := allinone.Repository(t.Context(), dir); err != nil || root != want {
			t.Errorf("%s: %q, %v", dir, root, err)
		}
	}
}

func TestARepositoryOfAnotherUserIsRefusedWithTheCommandThatHelps(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	dir := gittest.Repo(t).Dir()
	const other = 12345
	if err := os.Chown(dir, other, other); err != nil {
		t.Fatal(err)
	}
	_, err := allinone.Repository(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "belongs to another user (uid 12345)") || !strings.Contains(err.Error(), "chown -R 0 "+dir) {
		t.Errorf("it says %v", err)
	}
}
