package environment_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/environment"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// registry serves files by path, and counts requests.
type registry struct {
	*httptest.Server
	files    map[string][]byte
	requests atomic.Int64
}

func newRegistry(t *testing.T) *registry {
	r := &registry{files: map[string][]byte{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.requests.Add(1)
		content, ok := r.files[strings.TrimSuffix(q.URL.Path, "/")]
		if !ok {
			http.NotFound(w, q)
			return
		}
		if strings.Contains(q.URL.Path, "/simple") {
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(r.Close)
	return r
}

// host is the registry's HOST:PORT.
func (r *registry) host() string { return strings.TrimPrefix(r.URL, "http://") }

// store is a store whose tools have this registry, and its sandbox.
func (r *registry) store(t *testing.T, env ...string) (environment.Store, sandbox.Sandbox) {
	t.Helper()
	return r.storeIn(t, sandbox.Bwrap, env...)
}

func (r *registry) storeIn(t *testing.T, mode sandbox.Mode, env ...string) (environment.Store, sandbox.Sandbox) {
	t.Helper()
	box, err := sandbox.New(t.Context(), mode)
	if errors.Is(err, sandbox.ErrUnconfined) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return environment.Store{Dir: t.TempDir(), Runner: box, Say: t.Logf, Configured: func(context.Context, string) environment.Registry {
		return environment.Registry{Hosts: []string{r.host()}, Env: env}
	}}, box
}

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(err)
	}
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// prepare prepares the only recipe of a tree.
func prepare(t *testing.T, s environment.Store, dir, tool string) (environment.Layer, bool) {
	t.Helper()
	for _, r := range environment.Find(os.DirFS(dir)) {
		if r.Tool == tool {
			l, made, err := s.Prepare(t.Context(), dir, r)
			if err != nil {
				t.Fatal(err)
			}
			return l, made
		}
	}
	t.Fatalf("no recipe of %s", tool)
	return environment.Layer{}, false
}

// sh runs a command in a tree with the layers, and no network.
func sh(t *testing.T, box sandbox.Sandbox, dir, command string, layers ...environment.Layer) sandbox.Result {
	t.Helper()
	c := sandbox.Command{Argv: []string{"sh", "-c", command}, Dir: dir, Env: sandbox.Environ(), Wall: 5 * time.Minute}
	environment.Apply(&c, dir, box.Mode(), layers)
	r, err := box.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tgz packs files as npm does.
func tgz(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	w := tar.NewWriter(gz)
	for name, content := range files {
		err := w.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(content))})
		if _, werr := w.Write([]byte(content)); errors.Join(err, werr) != nil {
			t.Fatal(err, werr)
		}
	}
	if err := errors.Join(w.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, content := range files {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestPackagesOfNodeAreFetchedWithoutScriptsBuiltWithoutNetworkAndMounted(t *testing.T) {
	t.Parallel()
	needs(t, "npm")
	r := newRegistry(t)
	pack := tgz(t, map[string]string{
		"package.json": `{"name":"left","version":"1.0.0","scripts":{"install":"node build.js"}}`,
		"index.js":     "module.exports = require('fs').readFileSync(__dirname + '/built', 'utf8');",
		// The script of the package records whether it reaches the network.
		"build.js": `const fs = require('fs'), net = require('net');
const s = net.connect({host: '127.0.0.1', port: ` + strings.Split(r.host(), ":")[1] + `});
const end = (said) => { fs.writeFileSync('built', said + ' tree:' + fs.existsSync('../../src.js')); process.exit(0) };
s.on('connect', () => end('network')); s.on('error', () => end('no network'));`,
	})
	r.files["/left/-/left-1.0.0.tgz"] = pack
	sum := sha512.Sum512(pack)
	lock := fmt.Sprintf(`{"name":"x","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{
"":{"name":"x","version":"1.0.0","dependencies":{"left":"1.0.0"}},
"node_modules/left":{"version":"1.0.0","resolved":"%s/left/-/left-1.0.0.tgz","integrity":"sha512-%s","hasInstallScript": true}}}`,
		r.URL, base64.StdEncoding.EncodeToString(sum[:]))
	files := map[string]string{"package.json": `{"name":"x","version":"1.0.0","dependencies":{"left":"1.0.0"}}`, "package-lock.json": lock,
		".npmrc": "registry=http://127.0.0.1:1/\nlegacy-peer-deps=true\n", "src.js": ""}
	dir := write(t, files)
	s, box := r.store(t, "npm_config_registry="+r.URL+"/")
	layer, made := prepare(t, s, dir, "npm")
	if !made || r.requests.Load() == 0 {
		t.Fatalf("made %v with %d requests", made, r.requests.Load())
	}
	if got := sh(t, box, dir, "node -e \"console.log(require('left'))\"", layer); string(got.Output) != "no network tree:true\n" {
		t.Errorf("the package was built with %q, %s", got.Output, got)
	}
	if got := sh(t, box, dir, "echo x > node_modules/left/index.js", layer); got.OK() {
		t.Error("a run can change the layer")
	}
	if got := sh(t, box, dir, "ls node_modules/.cache; echo x > node_modules/.cache/x", layer); !got.OK() || len(got.Output) != 0 {
		t.Errorf("a run has no cache of its own: %s %s", got, got.Output)
	}

	if _, made := prepare(t, s, dir, "npm"); made {
		t.Error("the tree that the layer was mounted into makes another one")
	}

	before := r.requests.Load()
	again := write(t, files)
	if _, made := prepare(t, s, again, "npm"); made || r.requests.Load() != before {
		t.Errorf("the same locks are fetched again: made %v, %d requests more", made, r.requests.Load()-before)
	}
	if err := environment.CopyInto(t.Context(), again, []environment.Layer{layer}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(again, "node_modules/left/built")); err != nil || string(text) != "no network tree:true" {
		t.Errorf("copied into a tree: %q, %v", text, err)
	}
	r.files["/left/-/left-1.0.0.tgz"] = []byte("another")
	files["package-lock.json"] = strings.Replace(lock, `"requires":true`, `"requires":false`, 1)
	for _, recipe := range environment.Find(os.DirFS(write(t, files))) {
		if _, _, err := s.Prepare(t.Context(), again, recipe); !errors.Is(err, environment.ErrNotPrepared) || !strings.Contains(err.Error(), "npm ci") {
			t.Errorf("a package that is not the lock's is answered %v", err)
		}
	}
}

func TestAHostThatIsNoRegistryIsReachedByAFetchOnlyIfItIsAllowed(t *testing.T) {
	t.Parallel()
	needs(t, "npm")
	r, other := newRegistry(t), newRegistry(t)
	dir := write(t, map[string]string{"package.json": `{"name":"x","dependencies":{"left":"` + other.URL + `/left.tgz"}}`})
	s, _ := r.store(t, "npm_config_registry="+r.URL+"/", "npm_config_fetch_retries=0")
	recipe := environment.Find(os.DirFS(dir))[0]
	if _, _, err := s.Prepare(t.Context(), dir, recipe); !errors.Is(err, environment.ErrNotPrepared) || other.requests.Load() != 0 {
		t.Errorf("got %v, %d requests", err, other.requests.Load())
	}
	other.files["/left.tgz"] = tgz(t, map[string]string{"package.json": `{"name":"left","version":"1.0.0"}`})
	s.Allowed = allow(t, other.host())
	if _, made, err := s.Prepare(t.Context(), dir, recipe); err != nil || !made || other.requests.Load() == 0 {
		t.Errorf("with the host allowed: made %v, %v, %d requests", made, err, other.requests.Load())
	}
}

func TestPackagesOfPythonThatTheMachineLacksAreFetched(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	r := newRegistry(t)
	r.files["/simple/sb-left"] = []byte(`<a href="/f/sb_left-1.0-py3-none-any.whl">sb_left-1.0-py3-none-any.whl</a>`)
	r.files["/f/sb_left-1.0-py3-none-any.whl"] = zipped(t, map[string]string{
		"sb_left.py":                     "value = 42\n",
		"sb_left-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: sb-left\nVersion: 1.0\n",
		"sb_left-1.0.dist-info/WHEEL":    "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"sb_left-1.0.dist-info/RECORD":   "",
	})
	for name, files := range map[string]map[string]string{
		"requirements": {"requirements.txt": "-r more.requirements.txt\n-e .\n--index-url http://127.0.0.1:1/\n", "more.requirements.txt": "sb-left==1.0 # it\n"},
		"pyproject":    {"pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\"sb-left>=1; python_version > '3'\", \"pip\"]\n"},
		"a lock of uv": {"uv.lock": "version = 1\n[[package]]\nname = \"sb-left\"\nversion = \"1.0\"\n[[package]]\nname = \"win\"\nversion = \"1\"\nwheels = [{url = \"win-1-cp311-win_amd64.whl\"}]\n[[package]]\nname = \"x\"\nversion = \"1\"\nsource = {editable = \".\"}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s, box := r.store(t, "PIP_INDEX_URL="+r.URL+"/simple", "PIP_NO_CACHE_DIR=1")
			if probe := sh(t, box, t.TempDir(), "python3 -m pip --version && python3 -c 'import pytest' || echo no"); strings.Contains(string(probe.Output), "No module named pip") {
				t.Skip("python3 has no pip")
			}
			files["tests.py"] = "import sb_left; print(sb_left.value)\n"
			r.files["/simple/pytest"] = []byte(`<a href="/f/pytest-99-py3-none-any.whl">pytest-99-py3-none-any.whl</a>`)
			r.files["/f/pytest-99-py3-none-any.whl"] = zipped(t, map[string]string{
				"pytest.py": "", "pytest-99.dist-info/METADATA": "Metadata-Version: 2.1\nName: pytest\nVersion: 99\n",
				"pytest-99.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "pytest-99.dist-info/RECORD": "",
			})
			dir := write(t, files)
			layer, _ := prepare(t, s, dir, "pip")
			if got := sh(t, box, dir, "python3 tests.py", layer); string(got.Output) != "42\n" {
				t.Errorf("got %q, %s", got.Output, got)
			}
		})
	}
}

func TestModulesOfGoAreFetchedAndTheirBuildIsPaidOnce(t *testing.T) {
	t.Parallel()
	needs(t, "go")
	r := newRegistry(t)
	const at = "/example.com/left/@v/"
	r.files[at+"list"] = []byte("v1.0.0\n")
	r.files[at+"v1.0.0.info"] = []byte(`{"Version":"v1.0.0"}`)
	r.files[at+"v1.0.0.mod"] = []byte("module example.com/left\n")
	r.files[at+"v1.0.0.zip"] = zipped(t, map[string]string{
		"example.com/left@v1.0.0/go.mod": "module example.com/left\n", "example.com/left@v1.0.0/left.go": "package left\n\nconst Value = 42\n",
	})
	files := map[string]string{"go.mod": "module example.com/x\n\ngo 1.24\n\nrequire example.com/left v1.0.0\n",
		"x.go": "package main\n\nimport \"example.com/left\"\n\nfunc main() { println(left.Value) }\n"}
	dir := write(t, files)
	sums := exec.CommandContext(t.Context(), "go", "mod", "download", "all")
	sums.Dir, sums.Env = dir, append(os.Environ(), "GOPROXY="+r.URL, "GONOSUMDB=*", "GOFLAGS=-modcacherw", "GOMODCACHE="+t.TempDir())
	if out, err := sums.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s, box := r.store(t, "GOPROXY="+r.URL)
	layer, made := prepare(t, s, dir, "go")
	if !made {
		t.Fatal("no layer was made")
	}
	before := r.requests.Load()
	if got := sh(t, box, dir, "go run . 2>&1 | grep -v downloading", layer); string(got.Output) != "42\n" {
		t.Errorf("got %q, %s", got.Output, got)
	}
	if _, made := prepare(t, s, dir, "go"); made || r.requests.Load() != before {
		t.Error("the same module is fetched again")
	}
	// The compiled dependency comes from the layer: the command that compiles is not run.
	if got := sh(t, box, dir, "go build -x -o /tmp/x . 2>&1 | grep -c 'compile.* -p example.com/left '", layer); string(got.Output) != "0\n" {
		t.Errorf("the dependency is compiled again: %q", got.Output)
	}
}
