package role

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// A repository's own tests are its code. Of a home they reach the caches of
// tools, and nothing that lies beside them.
func TestATestRunReachesCachesOnly(t *testing.T) {
	box, err := sandbox.New(t.Context(), sandbox.Bwrap)
	if err != nil {
		t.Skipf("no bubblewrap here: %v", err)
	}
	home, tree := t.TempDir(), t.TempDir()
	kept := []string{".cache/signalbox/work/pm/repos/x.git/HEAD", "go/bin/gopls", ".cargo/config.toml", ".cargo/credentials.toml", ".npmrc", ".ssh/id_ed25519", ".config/gh/hosts.yml"}
	for _, name := range append(kept, ".cache/go-build/README", "go/pkg/mod/README", ".cargo/registry/README", ".npm/_cacache/README") {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := `for f in ` + shell(kept) + `; do
		grep -qs mine "$HOME/$f" && echo "$f" >> read
		mkdir -p "$(dirname "$HOME/$f")" 2>/dev/null; echo evil 2>/dev/null > "$HOME/$f"
	done
	echo filled > "$HOME/.cache/go-build/new"; echo filled > "$HOME/go/pkg/mod/new"; echo filled > "$HOME/.npm/_cacache/new"; echo filled > "$HOME/.cargo/registry/new"
	true`
	result, err := runner{box, t.TempDir()}.Run(t.Context(), sandbox.Command{
		Dir: tree, Argv: []string{"sh", "-c", script}, Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")},
	})
	if err != nil || result.ExitCode != 0 {
		t.Fatalf("%v, %+v", err, result)
	}
	if read, err := os.ReadFile(filepath.Join(tree, "read")); err == nil {
		t.Errorf("the test run read\n%s", read)
	}
	for _, name := range kept {
		if data, err := os.ReadFile(filepath.Join(home, name)); err != nil || string(data) != "mine" {
			t.Errorf("%s is %q, %v", name, data, err)
		}
	}
	for _, name := range []string{".cache/go-build/new", "go/pkg/mod/new", ".npm/_cacache/new", ".cargo/registry/new"} {
		if _, err := os.Stat(filepath.Join(home, name)); err != nil {
			t.Errorf("a cache is not kept: %v", err)
		}
	}
}

func shell(names []string) (words string) {
	for _, name := range names {
		words += " '" + name + "'"
	}
	return words
}
