package environment_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/pkg/agent/environment"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
)

// serveCrate adds the package sb-left 1.0.0 to a registry of cargo, and returns the store and
// the sandbox of that registry.
func serveCrate(t *testing.T, r *registry, mode sandbox.Mode) (environment.Store, sandbox.Sandbox) {
	t.Helper()
	var crate bytes.Buffer
	gz := gzip.NewWriter(&crate)
	w := tar.NewWriter(gz)
	for name, content := range map[string]string{
		"Cargo.toml": "[package]\nname = \"sb-left\"\nversion = \"1.0.0\"\nedition = \"2021\"\n", "src/lib.rs": "pub const VALUE: i32 = 42;\n",
	} {
		err := w.WriteHeader(&tar.Header{Name: "sb-left-1.0.0/" + name, Mode: 0o644, Size: int64(len(content))})
		if _, werr := w.Write([]byte(content)); errors.Join(err, werr) != nil {
			t.Fatal(err, werr)
		}
	}
	if err := errors.Join(w.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(crate.Bytes())
	r.files["/index/config.json"] = []byte(`{"dl": "` + r.URL + `/crates/{crate}-{version}.crate"}`)
	r.files["/index/sb/-l/sb-left"] = fmt.Appendf(nil, `{"name":"sb-left","vers":"1.0.0","deps":[],"cksum":"%s","features":{},"yanked":false}`, hex.EncodeToString(sum[:]))
	r.files["/crates/sb-left-1.0.0.crate"] = crate.Bytes()
	s, box := r.storeIn(t, mode)
	s.Configured = func(context.Context, string) environment.Registry {
		return environment.Registry{Hosts: []string{r.host()}, Files: map[string]string{
			"cargo/config.toml": "[source.crates-io]\nreplace-with = \"stub\"\n[source.stub]\nregistry = \"sparse+" + r.URL + "/index/\"\n"}}
	}
	return s, box
}

func TestPackagesOfRustAreFetchedOnceAndLaterRunsHaveThemWithoutNetwork(t *testing.T) {
	t.Parallel()
	needs(t, "cargo")
	for _, mode := range []sandbox.Mode{sandbox.Bwrap, sandbox.Landlock} {
		t.Run(string(mode), func(t *testing.T) {
			r := newRegistry(t)
			s, box := serveCrate(t, r, mode)
			files := map[string]string{
				"Cargo.toml": "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"2\"\n",
				"crates/x/Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\nbuild = \"gen/build.rs\"\n[[bin]]\nname = \"y\"\npath = \"odd/y.rs\"\n" +
					"[dev-dependencies]\nsb-left = \"1\"\n",
				"crates/x/gen/build.rs": "fn main() {}\n", "crates/x/odd/y.rs": "fn main() {}\n",
				"crates/x/tests/value.rs": "#[test]\nfn value() { assert_eq!(sb_left::VALUE, 42); }\n",
			}
			dir := write(t, files)
			layer, made := prepare(t, s, dir, "cargo")
			if !made || r.requests.Load() == 0 {
				t.Fatalf("made %v with %d requests", made, r.requests.Load())
			}
			if got := sh(t, box, dir, "cargo test 2>&1", layer); !got.OK() || !strings.Contains(string(got.Output), "test value ... ok") {
				t.Errorf("%s: %s", got, got.Output)
			}
			if got := sh(t, box, dir, "echo x > $CARGO_HOME/config.toml", layer); got.OK() {
				t.Error("a run can change the layer")
			}
			before := r.requests.Load()
			files["crates/x/tests/value.rs"] += "#[test]\nfn other() {}\n"
			if _, made := prepare(t, s, write(t, files), "cargo"); made || r.requests.Load() != before {
				t.Error("another test makes another layer")
			}
		})
	}
}

func TestALayerServesTheDirectoryThatItIsForUnlessTheRunReachesTheRegistry(t *testing.T) {
	t.Parallel()
	needs(t, "cargo")
	r := newRegistry(t)
	s, box := serveCrate(t, r, sandbox.Bwrap)
	manifest := "[package]\nname = \"NAME\"\nversion = \"0.1.0\"\n[dependencies]\nsb-left = \"1\"\n"
	a, _ := prepare(t, s, write(t, map[string]string{"Cargo.toml": strings.Replace(manifest, "NAME", "a", 1)}), "cargo")
	b, _ := prepare(t, s, write(t, map[string]string{"Cargo.toml": strings.Replace(manifest, "NAME", "b", 1)}), "cargo")
	home := func(dir string, reached ...string) string {
		list, err := egress.Parse(reached)
		if err != nil {
			t.Fatal(err)
		}
		c := sandbox.Command{Dir: dir, Egress: list}
		environment.Apply(&c, "/tree", box.Mode(), []environment.Layer{a.In("a"), b.In("b")})
		return c.CargoHome
	}
	first, second := home("/tree/a"), home("/tree/b/c")
	if first == "" || second == "" || first == second || home("/tree") != first || home("/tree/a", "other.example") != first || home("/tree/a", r.host()) != "" {
		t.Errorf("got %q, %q, %q, %q", first, second, home("/tree"), home("/tree/a", r.host()))
	}
}

func TestAPackageOfRustThatIsNotTheLocksIsRefused(t *testing.T) {
	t.Parallel()
	needs(t, "cargo")
	r := newRegistry(t)
	s, _ := serveCrate(t, r, sandbox.Bwrap)
	dir := write(t, map[string]string{
		"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\n[dependencies]\nsb-left = \"1\"\n", "src/lib.rs": "",
		"Cargo.lock": "version = 3\n[[package]]\nname = \"sb-left\"\nversion = \"1.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"" + strings.Repeat("0", 64) +
			"\"\n[[package]]\nname = \"x\"\nversion = \"0.1.0\"\ndependencies = [\"sb-left\"]\n",
	})
	if _, _, err := s.Prepare(t.Context(), dir, environment.Find(os.DirFS(dir))[0]); !errors.Is(err, environment.ErrNotPrepared) || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("got %v", err)
	}
}

func TestAHostThatAManifestOfRustNamesIsNotReachedByAFetch(t *testing.T) {
	t.Parallel()
	needs(t, "cargo")
	r := newRegistry(t)
	s, _ := serveCrate(t, r, sandbox.Bwrap)
	dir := write(t, map[string]string{
		"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\n[dependencies]\nsb-other = { git = \"https://other.example/other\" }\n", "src/lib.rs": "",
	})
	_, _, err := s.Prepare(t.Context(), dir, environment.Find(os.DirFS(dir))[0])
	if !errors.Is(err, environment.ErrNotPrepared) || !strings.Contains(err.Error(), "Cargo.toml takes sb-other from the git repository https://other.example/other, whose host is not allowed: allow it with --egress other.example") {
		t.Errorf("got %v", err)
	}
}

func TestTheFetchOfCargoSeesManifestsWithoutTargets(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{}
	for name, content := range map[string]string{
		"Cargo.toml": "[package]\nname = \"x\"\nversion = \"1.0.0\"\nbuild = \"b.rs\"\nlinks = \"x\"\n[lib]\npath = \"x.rs\"\n[[test]]\nname = \"t\"\n" +
			"[dependencies]\na = { path = \"libs/a\" }\n[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n[profile.dev]\nopt-level = 1\n",
		"libs/a/Cargo.toml": "[package]\nname = \"a\"\n[dependencies]\nout = { path = \"../../../out\" }\n",
		"b.rs":              "", "x.rs": "", "tests/t.rs": "", "libs/b/Cargo.toml": "[package]\nname = \"b\"\n",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	r := environment.Find(tree)[0]
	var sees []string
	for name := range r.Files {
		sees = append(sees, name)
	}
	slices.Sort(sees)
	if got := strings.Join(sees, " "); got != "Cargo.toml libs/a/Cargo.toml libs/a/src/lib.rs src/lib.rs" {
		t.Errorf("the fetch sees %s", got)
	}
	for _, gone := range []string{"build", "links", "[lib]", "[[test]]", "profile"} {
		if strings.Contains(r.Files["Cargo.toml"], gone) {
			t.Errorf("the manifest has %s: %s", gone, r.Files["Cargo.toml"])
		}
	}
	if !strings.Contains(r.Files["Cargo.toml"], "libc = \"0.2\"") {
		t.Errorf("the manifest lacks a dependency: %s", r.Files["Cargo.toml"])
	}
}

func TestTheSourcesOfCargoAreThoseOfTheUsersConfigurationWithoutCredentials(t *testing.T) {
	home := write(t, map[string]string{"config.toml": `
[source.crates-io]
replace-with = "mirror"
[source.mirror]
registry = "sparse+http://ann:secret@127.0.0.1:4999/index/"
[registries.own]
index = "sparse+http://127.0.0.1:4998/"
token = "secret"
[http]
proxy = "http://127.0.0.1:1"
`})
	t.Setenv("CARGO_HOME", home)
	r := environment.Configured(context.Background(), "cargo")
	if !slices.Contains(r.Hosts, "127.0.0.1:4999") || !slices.Contains(r.Hosts, "127.0.0.1:4998") {
		t.Errorf("got %v", r.Hosts)
	}
	got := r.Files[filepath.Join("cargo", "config.toml")]
	if strings.Contains(got, "secret") || strings.Contains(got, "proxy") || !strings.Contains(got, "replace-with = \"mirror\"") ||
		!strings.Contains(got, "sparse+http://127.0.0.1:4999/index/") || strings.Contains(got, "directory") {
		t.Errorf("got %s", got)
	}
}
