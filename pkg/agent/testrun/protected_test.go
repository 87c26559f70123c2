package testrun_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/pkg/agent/testrun"
)

// repository is a file system of files "NAME: CONTENT".
func repository(names ...string) fstest.MapFS {
	fs := fstest.MapFS{}
	for _, name := range names {
		name, text, _ := strings.Cut(name, ": ")
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fs
}

func TestTheKindOfAFileIsWhatItIsToTheTests(t *testing.T) {
	for want, names := range map[testrun.Kind][]string{
		testrun.Harness: {"Makefile", "sub/GNUmakefile", "rules.mk", "conftest.py", "tests/conftest.py", "conftest.so", "setup.py",
			"pytest.ini", "tox.ini", "jest.config.js", "vitest.config.mts", ".mocharc.yml", ".npmrc", ".signalbox.yaml",
			".github/workflows/ci.yml", ".gitlab-ci.yml", ".cargo/config.toml", ".config/nextest.toml", "sitecustomize.py", "babel.config.cjs",
			"page/go.mod", "go.work", "pytest.py", "unittest/__init__.py", "node_modules/.bin/jest", "node_modules/assert/index.js",
			"src/setupTests.js", "build.rs", "Rakefile", "build.gradle", "build.gradle.kts", "CMakeLists.txt", "phpunit.xml", "deno.json",
			"bunfig.toml", ".rspec", "difflib.py", "pluggy.py", "iniconfig/__init__.py", "argparse.py", "_pytest.so",
			"manage.py", "justfile", ".justfile", "taskfile.yaml", "Taskfile.yml"},
		testrun.Test: {"sum_test.go", "pkg/sum_test.go", "test_sum.py", "sum_test.py", "sum.test.ts", "sum.spec.jsx", "src/__tests__/sum.js",
			"tests/sum.rs", "testdata/in.txt", "pkg/testdata/a/b", "src/__snapshots__/a.snap", "test/helper.js", "src/FooTest.java",
			"Tests/FooTests.swift", "FooTests.cs", "lib/foo_spec.rb",
			"fixtures/want.txt", "pkg/golden/a.json", "internal/testutil/equal.go", "test-utils/render.js", "src/test-utils.js", "lib/testHelpers.ts", "testutil.go"},
		testrun.Product: {"sum.go", "src/main.rs", "latest.py", "contest/main.go", "testing.go", "attestation.ts", "README.md", "go.mod",
			"package-lock.json", "protest.js", "inspector/main.go", "spec/greet.py", "tools/convert", "scripts/build.sh", "greet.sh",
			"src/fixture.go", "contest-helper.js"},
	} {
		judges := testrun.JudgesOf(repository("test/sum.test.js: ", "Tests/FooTests.swift: "))
		for _, name := range names {
			if got := judges.Kind(name, nil, []byte("package sum\n")); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
	if got := testrun.KindOf("sum_test.go", []byte("package sum\n\nfunc TestMain(m *testing.M) {}\n")); got != testrun.Harness {
		t.Errorf("a file with TestMain is %q", got)
	}
}

func TestADirectoryHoldsTestsOnlyIfARunnerCollectsSome(t *testing.T) {
	product := testrun.JudgesOf(repository("spec/greet.py: ", "check.py: "))
	if got := product.Kind("spec/greet.py", []byte("a"), []byte("b")); got != testrun.Product {
		t.Errorf("a file of a directory spec without tests is %q", got)
	}
	tests := testrun.JudgesOf(repository("tests/test_greet.py: ", "tests/helper.py: "))
	if got := tests.Kind("tests/helper.py", []byte("a"), []byte("b")); got != testrun.Test {
		t.Errorf("a helper of tests is %q", got)
	}
}

func TestTheScriptsThatRunTheTestsAreFound(t *testing.T) {
	for _, c := range []struct {
		name string
		tree fstest.MapFS
		want []string
	}{
		{"of the configuration", repository(".signalbox.yaml: test: {command: sh ./check.sh && node app.js}", "check.sh: ", "app.js: "),
			[]string{"check.sh"}},
		{"of package.json", repository(`package.json: {"scripts":{"test":"npm run all","all":"node scripts/run-tests.js && node src/main.js"}}`,
			"scripts/run-tests.js: ", "src/main.js: "), []string{"scripts/run-tests.js"}},
		{"of the Makefile, and what runs tests of those that they call", repository("Makefile: test:\n\t./ci/check.sh\n", "ci/check.sh: sh ci/unit.sh; sh app.sh",
			"ci/unit.sh: go test ./...", "app.sh: echo hello"), []string{"ci/check.sh", "ci/unit.sh"}},
		{"a script that is the whole command", repository(".signalbox.yaml: test: {command: sh all.sh -v}", "all.sh: ./greet.sh", "greet.sh: "),
			[]string{"all.sh"}},
		{"not the product that a test script calls", repository(".signalbox.yaml: test: {command: sh test.sh}", "test.sh: sh greet.sh Ann",
			"greet.sh: echo hello"), []string{"test.sh"}},
		{"not the product that make calls", repository("Makefile: test:\n\ttools/convert in | diff - out\n", "tools/convert: "), nil},
		{"none", repository("go.mod: module a", "check.sh: "), nil},
		{"not out of the tree", repository(".signalbox.yaml: test: {command: sh ../check.sh /etc/test.sh}", "check.sh: "), nil},
	} {
		plan, err := testrun.Detect(c.tree)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := testrun.Called(c.tree, plan); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTheConfigurationOfTheBaseSaysWhatJudges(t *testing.T) {
	judges := testrun.JudgesOf(repository(".signalbox.yaml: test: {command: sh test.sh}\njudges: [\"expected/**\"]\nproduct: [\"src/__tests__/**\"]\n",
		"test.sh: ", "expected/a: "))
	for name, want := range map[string]testrun.Kind{"expected/a": testrun.Harness, "src/__tests__/a.js": testrun.Product, "src/a.js": testrun.Product} {
		if got := judges.Kind(name, []byte("a"), []byte("b")); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestOfAManifestOnlyTheKeysThatSteerToolsCount(t *testing.T) {
	for _, c := range []struct {
		name, before, now string
		same              bool
	}{
		{"pyproject.toml", "[project]\nversion = \"1\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n", "[project]\nversion = \"2\"\ndependencies = [\"a\"]\n[tool.pytest.ini_options]\naddopts = \"-q\"\n", true},
		{"pyproject.toml", "[project]\nname = \"a\"\n", "[project]\nname = \"a\"\n[tool.pytest.ini_options]\naddopts = \"--co\"\n", false},
		{"pyproject.toml", "[project]\nname = \"a\"\n", "[project]\nname = \"a\"\n[project.entry-points.pytest11]\nx = \"evil\"\n", false},
		{"pyproject.toml", "[project]\nname = \"a\"\n", "[project]\nname = \"a\"\nentry-points.pytest11.x = \"evil\"\n", false},
		{"pyproject.toml", "[project]\nname = \"a\"\n", "[tool.\"pytest\".ini_options]\naddopts = \"--co\"\n[project]\nname = \"a\"\n", false},
		{"pyproject.toml", "[project]\nname = \"a\"\n", "[project]\nname = \"\"\"\n[project]\n\"\"\"\n", false},
		{"pyproject.toml", "tool = {}\n[project]\n", "tool = {pytest = {}}\n[project]\n", false},
		{"setup.cfg", "[metadata]\nversion = 1\n[tool:pytest]\naddopts = -q\n", "[metadata]\nversion = 2\n[tool:pytest]\naddopts = -q\n", true},
		{"setup.cfg", "[tool:pytest]\naddopts = -q\n", "[tool:pytest]\naddopts = --co\n", false},
		{"Cargo.toml", "[package]\nversion = \"1\"\n", "[package]\nversion = \"2\"\n[dependencies]\nserde = \"1\"\n", true},
		{"Cargo.toml", "[package]\nversion = \"1\"\n", "[package]\nversion = \"1\"\n[lib]\ntest = false\n", false},
		{"Cargo.toml", "[package]\nversion = \"1\"\n", "[package]\nversion = \"1\"\nbuild = \"evil.rs\"\n", false},
		{"Cargo.toml", "[package]\nversion = \"1\"\n", "[package]\nversion = \"1\"\nautotests = false\n", false},
		{"pom.xml", "<project><version>1</version><build/></project>", "<project><version>2</version><dependencies><dependency/></dependencies><build/></project>", true},
		{"pom.xml", "<project><version>1</version></project>", "<project><version>1</version><properties><skipTests>true</skipTests></properties></project>", false},
		{"pom.xml", "<project><version>1</version></project>", "<project><version>1</version><build><plugins/></build></project>", false},
		{"package.json", `{"scripts":{"test":"jest"}}`, `{"scripts":{"test":"jest"},"dependencies":{"a":"1"}}`, true},
		{"package.json", `{"scripts":{"test":"jest"}}`, `{"scripts":{"test":"jest"},"jest":{"testMatch":[]}}`, false},
	} {
		if got := testrun.SameSteering(c.name, []byte(c.before), []byte(c.now)); got != c.same {
			t.Errorf("%s: %q steers as %q: %v", c.name, c.now, c.before, got)
		}
	}
}

func TestProductThatEndsTheProcessOfItsTestsIsFound(t *testing.T) {
	for _, c := range []struct {
		name, before, now string
		ends              bool
	}{
		{"a.go", "package a\n", "package a\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }\n", true},
		{"a.go", "package a\n", "package a\n\nimport \"os\"\n\nvar _ = func() int { os.Exit(0); return 0 }()\n", true},
		{"a.go", "package a\n", "package a\n\nimport \"os\"\n\nfunc init() { leave() }\n\nfunc leave() { os.Exit(0) }\n", true},
		{"a.go", "package a\n", "package a\n\nimport \"os\"\n\nfunc Leave() { os.Exit(code()) }\n", true}, // another file calls it
		{"a.go", "package a\n", "package a\n\nimport o \"os\"\n\nfunc init() { o.Exit(0) }\n", true},
		{"a.go", "package a\n", "package a\n\nimport . \"os\"\n\nvar _ = f()\n\nfunc f() int { Exit(0); return 0 }\n", true},
		{"a.go", "package a\n", "package a\n\nimport \"syscall\"\n\ntype t struct{}\n\nfunc (t) f() { syscall.RawSyscall(231, 0, 0, 0) }\n", true},
		{"a.go", "package a\n", "package a\n\nimport _ \"unsafe\"\n\n//go:linkname leave os.Exit\nfunc leave(int)\n", true},
		{"a.go", "package a\n", "package a\n\nimport \"os\"\n\nfunc Fail() { os.Exit(2) }\n", false}, // its tests fail
		{"a.go", "package a\n", "package a\n\nimport \"os\"\n\nfunc Program() string { return os.Args[0] }\n", false},
		{"main.go", "package main\n", "package main\n\nimport \"os\"\n\nfunc main() { leave() }\n\nfunc leave() { os.Exit(run()) }\n", false},
		{"main.go", "package main\n", "package main\n\nimport \"os\"\n\nvar _ = leave()\n\nfunc leave() int { os.Exit(0); return 0 }\n", true},
		{"main.go", "package main\n", "package main\n\nimport \"os\"\n\nfunc main() { os.Exit(1) }\n", false},
		{"a.py", "", "import sys\nsys.exit(0)\n", true},
		{"a.py", "", "import os\ntry:\n    os._exit(0)\nexcept Exception:\n    pass\n", true},
		{"a.py", "", "import atexit\ndef f():\n    atexit.register(print)\n", true},
		{"a.py", "", "import sys\ndef main():\n    sys.exit(1)\nif __name__ == '__main__':\n    sys.exit(main())\n", false},
		{"a.js", "", "process.exit(0)\n", true},
		{"a.js", "", "process.on('exit', () => { process.exitCode = 0 })\n", true},
		{"cli.js", "", "function main() {\n  process.exit(1)\n}\nmodule.exports = main\n", false},
		{"a.js", "", "function leave() {\n  process.exit(0)\n}\nleave()\n", true},
		{"a.js", "", "#!/usr/bin/env node\nfunction main() {\n  process.exit(0)\n}\nmain()\n", false},
		{"a.rb", "", "def leave\n  exit!\nend\nleave\n", true},
		{"a.js", "process.exit(0)\n", "process.exit(0)\nlet a\n", false},
		{"a.rb", "", "at_exit { exit! 0 }\n", true},
	} {
		if got := testrun.EndsProcess(c.name, []byte(c.before), []byte(c.now)) != ""; got != c.ends {
			t.Errorf("%s: %q ends the process: %v", c.name, c.now, got)
		}
	}
}

func TestAFileThatTakesTheModuleOfARunnerIsFound(t *testing.T) {
	for name, want := range map[string]bool{
		"difflib.py": true, "pluggy.py": true, "argparse/__init__.py": true, "tests/traceback.py": true, "node_modules/a/index.js": true,
		"greet.py": false, "pkg/difflib.py": false, "docs/copy.py": false, "test/__init__.py": false,
	} {
		if got := testrun.Shadows(name) != ""; got != want {
			t.Errorf("%s takes a module's place: %v", name, got)
		}
	}
}

func TestPackageJSONKeepsWhatItSaysOfTestsAndTakesWhatItNeeds(t *testing.T) {
	before := `{"name":"w","scripts":{"test":"jest"},"jest":{"bail":true},"dependencies":{"a":"1"}}`
	for _, c := range []struct {
		change, want string
		same         bool
	}{
		{`{"name":"w","scripts":{"test":"jest"},"jest":{"bail":true},"dependencies":{"a":"2","b":"1"}}`,
			`{"dependencies":{"a":"2","b":"1"},"jest":{"bail":true},"name":"w","scripts":{"test":"jest"}}`, true},
		{`{"name":"w","scripts":{"test":"true"},"mocha":{},"dependencies":{}}`,
			`{"dependencies":{},"jest":{"bail":true},"name":"w","scripts":{"test":"jest"}}`, false},
		{`{"dependencies":{"a":"1"}}`, `{"dependencies":{"a":"1"},"jest":{"bail":true},"name":"w","scripts":{"test":"jest"}}`, false},
		{`not json`, before, false},
	} {
		merged, _ := testrun.PackageJSON([]byte(before), []byte(c.change))
		if got := strings.Join(strings.Fields(string(merged)), ""); got != c.want {
			t.Errorf("%s gives %s, want %s", c.change, got, c.want)
		}
		if got := testrun.SameHarness([]byte(before), []byte(c.change)); got != c.same {
			t.Errorf("%s is tested the same way: %v", c.change, got)
		}
	}
}
