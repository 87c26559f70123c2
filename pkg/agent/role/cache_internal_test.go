package role

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
)

func TestMain(m *testing.M) {
	confine.Intercept()
	if exe, err := os.Executable(); err == nil {
		os.Setenv(confine.Variable, exe)
	}
	os.Exit(m.Run())
}

// A repository's own tests are its code. Of a home they read the caches of Go, and
// nothing that lies beside them; they fill caches of their own.
func TestATestRunReachesCachesOnly(t *testing.T) {
	for _, mode := range []sandbox.Mode{sandbox.Bwrap, sandbox.Landlock} {
		t.Run(string(mode), func(t *testing.T) {
			box, err := sandbox.New(t.Context(), mode)
			if err != nil {
				t.Skipf("not on this machine: %v", err)
			}
			reachesCachesOnly(t, box)
		})
	}
}

func reachesCachesOnly(t *testing.T, box sandbox.Sandbox) {
	home, cache, tree := t.TempDir(), t.TempDir(), t.TempDir()
	kept := []string{".cache/signalbox/work/pm/repos/x.git/HEAD", "go/bin/gopls", ".cargo/config.toml", ".cargo/credentials.toml", ".npmrc", ".ssh/id_ed25519", ".config/gh/hosts.yml"}
	caches := []string{".cache/go-build/README", "go/pkg/mod/README", ".cargo/registry/README", ".npm/_cacache/README"}
	for _, name := range append(kept, caches...) {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := `H=` + home + `; for f in ` + shell(kept) + `; do
		grep -qs mine "$H/$f" && echo "$f" >> read
		mkdir -p "$(dirname "$H/$f")" 2>/dev/null; echo evil 2>/dev/null > "$H/$f"
	done
	for f in ` + shell(caches) + `; do echo evil 2>/dev/null > "$H/$f"; done
	grep -q mine "$H/go/pkg/mod/README" || exit 3
	for d in "$GOCACHE" "$GOMODCACHE" "$npm_config_cache" "$CARGO_HOME"; do mkdir -p "$d"; echo filled > "$d/new" || exit 4; done
	true`
	result, err := runner{box: box, shared: t.TempDir(), cache: cache}.Run(t.Context(), sandbox.Command{
		Dir: tree, Argv: []string{"sh", "-c", script}, Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")},
	})
	if err != nil || result.ExitCode != 0 {
		t.Fatalf("%v, %+v", err, result)
	}
	if read, err := os.ReadFile(filepath.Join(tree, "read")); err == nil {
		t.Errorf("the test run read\n%s", read)
	}
	for _, name := range append(kept, caches...) {
		if data, err := os.ReadFile(filepath.Join(home, name)); err != nil || string(data) != "mine" {
			t.Errorf("%s is %q, %v", name, data, err)
		}
	}
	for _, name := range []string{"go-build/new", "go-mod/new", "npm/new", "cargo/new"} {
		if _, err := os.Stat(filepath.Join(cache, name)); err != nil {
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
