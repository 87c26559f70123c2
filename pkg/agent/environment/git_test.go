package environment_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/pkg/agent/environment"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
)

// serveGit serves a repository of these files, and returns its address, without a revision, and its
// HOST:PORT.
func serveGit(t *testing.T, files map[string]string) (address, host string) {
	t.Helper()
	work, root := write(t, files), t.TempDir()
	for _, argv := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"}, {"clone", "-q", "--bare", ".", filepath.Join(root, "left.git")}} {
		cmd := exec.CommandContext(t.Context(), "git", argv...)
		cmd.Dir = work
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", argv, err, out)
		}
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	server := httptest.NewServer(http.Handler(&cgi.Handler{Path: git, Args: []string{"http-backend"}, Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}}))
	t.Cleanup(server.Close)
	return server.URL + "/left.git", strings.TrimPrefix(server.URL, "http://")
}

func TestAPackageOfAGitRepositoryIsNamedWithTheLineThatHelps(t *testing.T) {
	t.Parallel()
	const npm = "package.json takes left from the git repository https://git.example/left.git, whose host is not allowed: allow it with --egress git.example, which a setup in .signalbox.yaml, setup: {command: \"npm install\"}, needs as well"
	const cargo = "takes left from the git repository https://git.example/left, whose host is not allowed: allow it with --egress git.example"
	const pip = "takes left from the git repository https://git.example/left.git, which is not fetched, since pip runs code of the package for it: add to .signalbox.yaml: " +
		"setup: {command: \"python3 -m pip install --target .packages git+https://git.example/left.git\"} and env: {PYTHONPATH: .packages}, with --egress git.example"
	for name, c := range map[string]struct {
		files map[string]string
		says  string // none: the empty string
	}{
		"npm":                    {map[string]string{"package.json": `{"dependencies":{"left":"git+https://git.example/left.git#v1"}}`}, npm},
		"npm by ssh":             {map[string]string{"package.json": `{"dependencies":{"left":"git+ssh://git@git.example/left.git"}}`}, "package.json takes left from the git repository ssh://git.example/left.git, whose host is not allowed: allow it with --egress git.example,"},
		"npm by scp":             {map[string]string{"package.json": `{"devDependencies":{"left":"git@git.example:ann/left.git"}}`}, "from the git repository ssh://git.example/ann/left.git,"},
		"npm by a plain address": {map[string]string{"package.json": `{"dependencies":{"left":"https://git.example/left.git"}}`}, npm},
		"npm by a short name":    {map[string]string{"package.json": `{"dependencies":{"left":"ann/left#v1"}}`}, "package.json takes left from the git repository https://github.com/ann/left, whose host is not allowed: allow it with --egress github.com"},
		"npm by a shorter name":  {map[string]string{"package.json": `{"dependencies":{"left":"gitlab:ann/left"}}`}, "https://gitlab.com/ann/left"},
		"npm with credentials":   {map[string]string{"package.json": `{"dependencies":{"left":"git+https://ann:secret@git.example/left.git"}}`}, npm},
		"a lock of npm": {map[string]string{"package.json": `{"dependencies":{"right":"1"}}`, "package-lock.json": `{"packages":{"node_modules/right/node_modules/left":{"version":"1.0.0","resolved":"git+ssh://git@git.example/left.git#abc"}}}`},
			"package-lock.json takes left from the git repository ssh://git.example/left.git,"},
		"a lock of yarn":    {map[string]string{"package.json": `{"dependencies":{"right":"1"}}`, "yarn.lock": "# yarn lockfile v1\n\n\"left@git+https://git.example/left.git\":\n  version \"1.0.0\"\n  resolved \"git+https://git.example/left.git#abc\"\n"}, "yarn.lock takes left from the git repository https://git.example/left.git,"},
		"a lock of pnpm":    {map[string]string{"package.json": `{"dependencies":{"right":"1"}}`, "pnpm-lock.yaml": "packages:\n\n  left@git+https://git.example/left.git#abc:\n    resolution: {commit: abc, repo: https://git.example/left.git, type: git}\n"}, "pnpm-lock.yaml takes left from the git repository https://git.example/left.git,"},
		"no git":            {map[string]string{"package.json": `{"repository":"ann/left","dependencies":{"a":"^1","b":"file:../b","c":"npm:d@1","e":"workspace:*","f":"https://x.example/f.tgz"}}`}, ""},
		"cargo":             {map[string]string{"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\n[dependencies]\nleft = { git = \"https://git.example/left\", branch = \"main\" }\n"}, "Cargo.toml " + cargo},
		"a target of cargo": {map[string]string{"Cargo.toml": "[package]\nname = \"x\"\n[target.'cfg(unix)'.dev-dependencies]\nleft = { git = \"https://git.example/left\" }\n"}, "Cargo.toml " + cargo},
		"a lock of cargo": {map[string]string{"Cargo.toml": "[package]\nname = \"x\"\n[dependencies]\na = \"1\"\n", "Cargo.lock": "[[package]]\nname = \"left\"\nversion = \"1.0.0\"\nsource = \"git+https://git.example/left?branch=main#abc\"\n"},
			"Cargo.lock " + cargo},
		"requirements":              {map[string]string{"requirements.txt": "a==1\nleft @ git+https://git.example/left.git@v1 ; python_version > '3'\n"}, "requirements.txt " + pip},
		"requirements with an egg":  {map[string]string{"requirements/test.txt": "-e git+https://git.example/left.git@v1#egg=left\n"}, "requirements/test.txt " + pip},
		"requirements without name": {map[string]string{"requirements.txt": "git+https://git.example/left.git\n"}, "requirements.txt " + pip},
		"a comment":                 {map[string]string{"requirements.txt": "a==1 # see git+https://git.example/left.git\n"}, ""},
		"pyproject":                 {map[string]string{"pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\"left[all] @ git+https://git.example/left.git\"]\n"}, "pyproject.toml " + pip},
		"a source of uv":            {map[string]string{"pyproject.toml": "[tool.uv.sources]\nleft = { git = \"https://git.example/left.git\", rev = \"x\" }\n"}, "pyproject.toml " + pip},
		"setup.cfg":                 {map[string]string{"setup.cfg": "[options]\ninstall_requires =\n  left @ git+https://git.example/left.git\n"}, "setup.cfg " + pip},
		"a lock of uv":              {map[string]string{"uv.lock": "[[package]]\nname = \"left\"\nversion = \"1.0\"\nsource = { git = \"https://git.example/left.git?rev=x#abc\" }\n"}, "uv.lock " + pip},
		"a lock of poetry":          {map[string]string{"poetry.lock": "[[package]]\nname = \"left\"\nversion = \"1.0\"\nfiles = []\n\n[package.dependencies]\na = \"*\"\n\n[package.source]\ntype = \"git\"\nurl = \"https://git.example/left.git\"\n"}, "poetry.lock " + pip},
		"a lock of bundler": {map[string]string{"Gemfile.lock": "GIT\n  remote: https://git.example/left.git\n  revision: abc\n  branch: main\n  specs:\n    left (1.0)\n\n" + lockOfGems},
			"Gemfile.lock takes left from the git repository https://git.example/left.git, which is not fetched, since bundler runs code of the package for it: add to .signalbox.yaml: setup: {command: \"bundle install\"}, with --egress git.example"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{}
			for file, content := range c.files {
				tree[file] = &fstest.MapFile{Data: []byte(content)}
			}
			all := environment.Find(tree)
			if len(all) == 0 {
				t.Fatal("no recipe")
			}
			said := strings.Join(all[0].Unfetched(), "\n")
			if !strings.HasSuffix(name, "comment") && said == "" {
				s := environment.Store{Dir: t.TempDir(), Runner: unused{}, Configured: func(context.Context, string) environment.Registry { return environment.Registry{} }}
				if _, _, err := s.Prepare(t.Context(), t.TempDir(), all[0]); errors.Is(err, environment.ErrNotPrepared) {
					said = err.Error()
				}
			}
			if c.says == "" && said != "" || !strings.Contains(said, c.says) {
				t.Errorf("got %q", said)
			}
		})
	}
}

// unused stands for a sandbox that runs nothing.
type unused struct{}

var errUnused = errors.New("nothing is run")

func (unused) Run(context.Context, sandbox.Command) (sandbox.Result, error) {
	return sandbox.Result{}, errUnused
}
func (unused) Confines() bool     { return true }
func (unused) Mode() sandbox.Mode { return sandbox.Bwrap }

func allow(t *testing.T, hosts ...string) egress.List {
	t.Helper()
	list, err := egress.Parse(hosts)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestAPackageOfNodeFromAnAllowedGitRepositoryIsFetchedWithoutItsScripts(t *testing.T) {
	t.Parallel()
	needs(t, "npm")
	address, host := serveGit(t, map[string]string{"index.js": "module.exports = require('fs').readdirSync(__dirname).includes('ran') ? 'a script ran' : 42",
		"package.json": `{"name":"left","version":"1.0.0","files":["index.js","ran"],"scripts":{"prepare":"touch ran","install":"touch ran"}}`})
	r := newRegistry(t)
	s, box := r.store(t, "npm_config_registry="+r.URL+"/")
	s.Allowed = allow(t, host)
	dir := write(t, map[string]string{"package.json": `{"name":"x","version":"1.0.0","dependencies":{"left":"git+` + address + `"}}`})
	layer, _ := prepare(t, s, dir, "npm")
	if got := sh(t, box, dir, "node -e \"console.log(require('left'))\"", layer); string(got.Output) != "42\n" {
		t.Errorf("%s: %s", got, got.Output)
	}
}

func TestAPackageOfRustFromAnAllowedGitRepositoryIsFetched(t *testing.T) {
	t.Parallel()
	needs(t, "cargo")
	address, host := serveGit(t, map[string]string{"Cargo.toml": "[package]\nname = \"left\"\nversion = \"1.0.0\"\nedition = \"2021\"\n", "src/lib.rs": "pub const VALUE: i32 = 42;\n"})
	r := newRegistry(t)
	s, box := serveCrate(t, r, sandbox.Bwrap)
	s.Allowed = allow(t, host)
	dir := write(t, map[string]string{
		"Cargo.toml":  "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nleft = { git = \"" + address + "\" }\n",
		"src/main.rs": "fn main() { println!(\"value {}\", left::VALUE) }\n",
	})
	layer, _ := prepare(t, s, dir, "cargo")
	if got := sh(t, box, dir, "cargo run 2>&1", layer); !got.OK() || !strings.Contains(string(got.Output), "value 42") {
		t.Errorf("%s: %s", got, got.Output)
	}
}
