package testrun_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/testrun"
)

func tree(files ...string) fstest.MapFS {
	t := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		t[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return t
}

func TestDetectFindsTheTestCommand(t *testing.T) {
	const placeholder = `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`
	for name, c := range map[string]struct {
		tree    fstest.MapFS
		tool    string
		command string
		timeout time.Duration
	}{
		"a configuration goes before all else": {
			tree("go.mod", "module x", ".signalbox.yaml", "test: {command: make check, timeout: 90s}"),
			"configured", "make check", 90 * time.Second,
		},
		"a configuration without a test leaves it to the tree": {
			tree("go.mod", "module x", ".signalbox.yaml", "# nothing yet\n"), "go", "go test -json ./...", 0,
		},
		"a Go module": {tree("go.mod", "module x", "Makefile", "test:\n\tgo vet"), "go", "go test -json ./...", 0},
		"a Go workspace with its members": {
			tree("go.mod", "module x", "go.work", "go 1.24\n\nuse (\n\t. // the root\n\t./proto\n)\nuse ./tools\nuse ../elsewhere\n"),
			"go", "go test -json ./... ./proto/... ./tools/...", 0,
		},
		"npm": {tree("package.json", `{"scripts": {"test": "node --test"}}`), "npm", "npm test", 0},
		"npm, by a script it runs last": {tree("package.json", `{"scripts": {"test": "npm run lint && npm run test:unit", "test:unit": "npm run all", "all": "jest"}}`), "npm",
			"npm test -- -- -- --verbose", 0},
		"npm, by yarn":                        {tree("package.json", `{"scripts": {"test": "yarn unit", "unit": "vitest run"}}`), "npm", "npm test -- --reporter=verbose", 0},
		"npm, by a script with arguments":     {tree("package.json", `{"scripts": {"test": "npm run unit -- -x", "unit": "jest"}}`), "npm", "npm test", 0},
		"npm, by a script with another after": {tree("package.json", `{"scripts": {"test": "npm run unit", "unit": "jest", "postunit": "rm x"}}`), "npm", "npm test", 0},
		"npm, by a script that runs itself":   {tree("package.json", `{"scripts": {"test": "npm test"}}`), "npm", "npm test", 0},
		"npm, by a command of it":             {tree("package.json", `{"scripts": {"test": "npm install", "install": "jest"}}`), "npm", "npm test", 0},
		"pnpm by its lock file":               {tree("package.json", `{"scripts": {"test": "jest"}}`, "pnpm-lock.yaml", ""), "pnpm", "pnpm test --verbose", 0},
		"yarn by its lock file":               {tree("package.json", `{"scripts": {"test": "jest"}}`, "yarn.lock", ""), "yarn", "yarn test --verbose", 0},
		"yarn by the packageManager":          {tree("package.json", `{"packageManager": "yarn@4.1.0", "scripts": {"test": "jest"}}`), "yarn", "yarn test --verbose", 0},
		"the npm placeholder is none":         {tree("package.json", placeholder, "Cargo.toml", ""), "cargo", "cargo test --no-fail-fast", 0},
		"pytest by its configuration":         {tree("pyproject.toml", "[tool.pytest.ini_options]\n"), "pytest", "python3 -m pytest -v -rfEp -p no:cacheprovider", 0},
		"pytest by a conftest":                {tree("tests/conftest.py", ""), "pytest", "python3 -m pytest -v -rfEp -p no:cacheprovider", 0},
		"pytest by the tests' names":          {tree("tests/unit/test_money.py", "def test_x(): pass"), "pytest", "python3 -m pytest -v -rfEp -p no:cacheprovider", 0},
		"pytest running unittest":             {tree("test_money.py", "import unittest", "requirements.txt", "pytest==8"), "pytest", "python3 -m pytest -v -rfEp -p no:cacheprovider", 0},
		"unittest at the root":                {tree("test_money.py", "import unittest"), "unittest", "python3 -m unittest discover -v", 0},
		"unittest in a package":               {tree("tests/__init__.py", "", "tests/test_a.py", "import unittest"), "unittest", "python3 -m unittest discover -v", 0},
		"unittest in a plain folder":          {tree("tests/test_a.py", "from unittest import TestCase"), "unittest", "python3 -m unittest discover -v -s tests", 0},
		"a Python project's make test":        {tree("pyproject.toml", "[project]\n", "Makefile", "lint test: build\n\ttox\n"), "make", "make test", 0},
		"cargo":                               {tree("Cargo.toml", "[package]"), "cargo", "cargo test --no-fail-fast", 0},
		"rake":                                {tree("Rakefile", "task :test do\n  ruby(\"run-test.rb\")\nend\n"), "rake", "rake test", 0},
		"rake by a task of tests":             {tree("Rakefile", "Rake::TestTask.new do |t|\nend\n", "Makefile", "test:\n\trake\n"), "rake", "rake test", 0},
		"prove":                               {tree("Makefile.PL", "", "t/001_api.t", ""), "prove", "prove --lib --verbose --merge", 0},
		"Perl that is to be compiled":         {tree("Makefile.PL", "", "t/a.t", "", "a.xs", "", "Makefile", "test:\n\tprove -b\n"), "make", "make test", 0},
		"CMake": {
			tree("CMakeLists.txt", "project(x)\nenable_testing()\n", "Makefile", "test:\n\t./x\n"), "cmake",
			"cmake -S . -B .signalbox-build && cmake --build .signalbox-build && ctest --test-dir .signalbox-build --output-on-failure", 0,
		},
		"CMake without tests": {tree("CMakeLists.txt", "project(x)\n", "Makefile", "test:\n\t./x\n"), "make", "make test", 0},
		"make":                {tree("Makefile", "all: build\n\n.PHONY: test\ntest:\n\t./run-tests\n"), "make", "make test", 0},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := testrun.Detect(c.tree)
			if err != nil {
				t.Fatal(err)
			}
			if c.timeout == 0 {
				c.timeout = testrun.DefaultTimeout
			}
			if plan.Tool != c.tool || plan.Command() != c.command || plan.Timeout != c.timeout {
				t.Errorf("got %s: %q within %s, want %s: %q within %s", plan.Tool, plan.Command(), plan.Timeout, c.tool, c.command, c.timeout)
			}
			if _, ok := c.tree[plan.Source]; !ok {
				t.Errorf("source %q is not in the tree", plan.Source)
			}
		})
	}
}

func TestDetectFindsNothing(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"an empty tree":                  {},
		"a Makefile without the target":  tree("Makefile", "build:\n\tcc x.c\ntest := 1\n\ttest: no target\n"),
		"a package without tests":        tree("package.json", `{"name": "x"}`),
		"a Python project without tests": tree("pyproject.toml", "[project]\nname = 'x'\n", "setup.cfg", "[metadata]\n"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := testrun.Detect(files)
			if !errors.Is(err, testrun.ErrNoTests) {
				t.Fatalf("got %v", err)
			}
			for _, word := range []string{"go.mod", "package.json", "Cargo.toml", "Makefile", ".signalbox.yaml", "test: {command:"} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("the error does not speak of %s: %v", word, err)
				}
			}
		})
	}
}

func TestDetectRefusesABadConfiguration(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"an unknown key":           {"test:\n  comand: x\n", `.signalbox.yaml:2: unknown field "comand"; known are setup, test, lint, type_check and demo, each with command and timeout, demo with port and page, too, and env, judges and product`},
		"an unknown section":       {"tests: {}\n", `.signalbox.yaml:1: unknown field "tests"; known are setup, test, lint, type_check and demo, each with command and timeout, demo with port and page, too, and env, judges and product`},
		"no command":               {"test:\n  timeout: 5m\n", `.signalbox.yaml: test has no command; write: test: {command: "…"}`},
		"a command that is a list": {"test:\n  command: [go, test]\n", `.signalbox.yaml:2: this does not belong here; write: test: {command: "…", timeout: 10m}`},
		"a test that is a text":    {"test: make\n", `.signalbox.yaml:1: this does not belong here; write: test: {command: "…", timeout: 10m}`},
		"a timeout that is none":   {"test:\n  command: x\n  timeout: soon\n", `.signalbox.yaml:3: timeout is not a duration above zero; write one such as 90s or 10m`},
		"a timeout of zero":        {"test:\n  command: x\n\n  timeout: 0s\n", `.signalbox.yaml:4: timeout is not a duration above zero; write one such as 90s or 10m`},
		"a timeout without a unit": {"test:\n  command: x\n  timeout: 5\n", `.signalbox.yaml:3: timeout is not a duration above zero; write one such as 90s or 10m`},
		"a key twice":              {"test:\n  command: a\n  command: b\n", `.signalbox.yaml:3: mapping key "command" already defined at [2:3]`},
		"broken YAML":              {"\ntest: [", `.signalbox.yaml:2: sequence end token ']' not found`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := testrun.Detect(tree("go.mod", "module x", ".signalbox.yaml", c.content))
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestDetectNamesABrokenPackageFile(t *testing.T) {
	if _, err := testrun.Detect(tree("package.json", "{")); err == nil || !strings.Contains(err.Error(), "package.json") {
		t.Errorf("got %v", err)
	}
}
