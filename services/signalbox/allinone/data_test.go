package allinone_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

// A data directory holds tokens, the address of the forge, and git repositories whose
// configuration names programs. So whoever wrote its files would have the user's rights.
func TestADataDirectoryThatOthersWroteIsRefused(t *testing.T) {
	put := func(t *testing.T, file string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, file, "0.0.0.0:3000")
	}
	// clone returns the clone of a repository that has the files; "@" links.
	clone := func(t *testing.T, files ...string) string {
		g, to := gittest.Repo(t), filepath.Join(t.TempDir(), "clone")
		for _, name := range files {
			link, isLink := strings.CutPrefix(name, "@")
			if !isLink {
				put(t, filepath.Join(g.Dir(), name))
			} else if err := os.Symlink("/tmp", filepath.Join(g.Dir(), link)); err != nil {
				t.Fatal(err)
			}
		}
		gittest.Run(t, g, "add", "-A", "-f")
		gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "first")
		gittest.Run(t, git.New(""), "clone", "-q", g.Dir(), to)
		return to
	}
	within := func(files ...string) func(*testing.T) string {
		return func(t *testing.T) string { return filepath.Join(clone(t, files...), ".signalbox") }
	}
	mode := func(mode os.FileMode, files ...string) func(*testing.T) string {
		return func(t *testing.T) string {
			dir := t.TempDir()
			for _, name := range files {
				put(t, filepath.Join(dir, name))
			}
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
			return dir
		}
	}
	for name, c := range map[string]struct {
		dir  func(*testing.T) string
		says string // empty: it is taken
	}{
		"none yet, in no repository":                 {func(t *testing.T) string { return filepath.Join(t.TempDir(), "a", "b") }, ""},
		"none yet, in a repository":                  {within("README"), ""},
		"a repository's configuration and prompts":   {within(".signalbox/config.yaml", ".signalbox/prompts/developer.tmpl"), ""},
		"a repository's address of the forge":        {within(".signalbox/forge/address"), "/.signalbox/forge/address came with a git repository"},
		"the same, for other file systems":           {within(".SignalBox/Forge/address"), "/.SignalBox/Forge/address came with a git repository"},
		"the same, with a character that is ignored": {within(".signalbox/fo\u200crge/address"), "came with a git repository"},
		"a repository's log":                         {within(".signalbox/log/jetstream/x"), "came with a git repository"},
		"a repository's link in place of the file":   {within(".signalbox/config.yaml", "@.signalbox/signalbox.log"), "came with a git repository"},
		"a repository's link in place of it":         {within("@.signalbox"), "/.signalbox came with a git repository"},
		"a clone of another repository": {func(t *testing.T) string { return clone(t, "forge/address") },
			".git came with a git repository"},
		"a mode that lets others write, and empty":   {mode(0o777), ""},
		"a mode that lets others write, with a log":  {mode(0o777, "log/x"), "its mode is 0777; if nobody else has used it, `chmod go-w "},
		"a mode that lets a group write, with a log": {mode(0o770, "forge/x"), "its mode is 0770"},
		"a mode that lets others read, with a log":   {mode(0o755, "log/x"), ""},
		"another user's": {func(t *testing.T) string {
			dir := mode(0o777, "log/x")(t)
			if err := os.Chown(dir, 65534, 65534); err != nil {
				t.Skip("this user can give no directory away")
			}
			return dir
		}, "it belongs to user 65534"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := c.dir(t)
			file, err := allinone.OpenData(t.Context(), dir)
			if c.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				_ = file.Close()
				if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o022 != 0 {
					t.Errorf("others can write to it: %v, %v", info.Mode(), err)
				}
				return
			}
			if !errors.Is(err, allinone.ErrForeign) || service.ExitCode(err) != service.ExitUsage || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it ends with %v, want %q", err, c.says)
			}
		})
	}
}

// The files are planted behind the check of the directory, as by an archive.
func TestPlantedFilesOfTheForgeOpenNothing(t *testing.T) {
	dir := t.TempDir()
	plant := func(name, text string, mode os.FileMode) {
		t.Helper()
		file := filepath.Join(dir, "forge", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), mode), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
	}
	for _, address := range []string{"0.0.0.0:0", ":0"} {
		plant("address", address, 0o600)
		err := runForge(t, allinone.Config{Dir: dir}, func(s *allinone.System) {
			if !strings.HasPrefix(s.Forge.URL, "http://127.0.0.1:") {
				t.Errorf("%q has the forge served at %s", address, s.Forge.URL)
			}
		})
		if err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
	plant("person.token", "known", 0o644)
	if err := runForge(t, allinone.Config{Dir: dir}, nil); err == nil || !strings.Contains(err.Error(), "others may know this token") {
		t.Errorf("with a token that others can read it ends with %v", err)
	}
}
