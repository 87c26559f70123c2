package reproduce_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules/reproduce"
)

// repository is a small repository in one language, whose function greets wrongly.
type repository struct {
	files   map[string]string
	product string // the file with "Helo"
	report  reproduce.Report
	path    string
	test    string
	program []string // runs the tests
}

func report(call string) reproduce.Report {
	return reproduce.Report{
		Number: 1, Title: "Hello is spelled wrong", Steps: "call `" + call + "`.", Expected: "`Hello, Ann!`", Actual: "`Helo, Ann!`",
	}
}

func repositories() map[string]repository {
	return map[string]repository{
		"a Go package": {
			files: map[string]string{
				"go.mod":   "module example.com/greet\n\ngo 1.22\n",
				"greet.go": "package greet\n\nfunc Hello(name string) string { return \"Helo, \" + name + \"!\" }\n",
			},
			product: "greet.go", report: report(`greet.Hello("Ann")`), path: "reported_hello_is_spelled_wrong_test.go", test: "TestHelloIsSpelledWrong",
			program: []string{"go", "test", "./..."},
		},
		"a Go program, whose function returns an error as well": {
			files: map[string]string{
				"go.mod":       "module example.com/greet\n\ngo 1.22\n",
				"cmd/hi/hi.go": "package main\n\nfunc main() {}\n\nfunc hello(name string) (string, error) { return \"Helo, \" + name + \"!\", nil }\n",
			},
			product: "cmd/hi/hi.go", report: report(`hello("Ann")`), path: "cmd/hi/reported_hello_is_spelled_wrong_test.go", test: "TestHelloIsSpelledWrong",
			program: []string{"go", "test", "./..."},
		},
		"a Python module": {
			files: map[string]string{
				"greet.py":      "def hello(name, mark='!'):\n    return 'Helo, ' + name + mark\n",
				"test_greet.py": "import unittest\n",
			},
			product: "greet.py", report: report(`greet.hello("Ann", mark="!")`), path: "test_reported_hello_is_spelled_wrong.py", test: "test_hello_is_spelled_wrong",
			program: []string{"python3", "-m", "unittest"},
		},
		"a Python package, which exports the function of one of its modules": {
			files: map[string]string{
				"src/greet/__init__.py": "from .words import hello\n", "src/greet/words.py": "def hello(name):\n    return 'Helo, ' + name + '!'\n",
				"tests/test_greet.py": "import unittest\n", "tests/__init__.py": "import sys\nsys.path.insert(0, 'src')\n",
			},
			product: "src/greet/words.py", report: report(`hello("Ann")`), path: "tests/test_reported_hello_is_spelled_wrong.py", test: "test_hello_is_spelled_wrong",
			program: []string{"python3", "-m", "unittest"},
		},
		"a CommonJS module": {
			files: map[string]string{
				"package.json":       `{"name": "greet", "scripts": {"test": "node --test"}}`,
				"lib/greet.js":       "exports.hello = (name) => 'Helo, ' + name + '!';\n",
				"test/greet.test.js": "require('node:test');\n",
			},
			product: "lib/greet.js", report: report(`greet.hello("Ann")`), path: "test/reported_hello_is_spelled_wrong.test.js", test: "Hello is spelled wrong",
			program: []string{"node", "--test"},
		},
		"an ECMAScript module": {
			files: map[string]string{
				"package.json": `{"name": "greet", "type": "module", "scripts": {"test": "node --test"}}`,
				"index.js":     "export function hello(name) { return 'Helo, ' + name + '!'; }\n",
			},
			product: "index.js", report: report(`hello('Ann')`), path: "reported_hello_is_spelled_wrong.test.js", test: "Hello is spelled wrong",
			program: []string{"node", "--test"},
		},
		"a crate": {
			files: map[string]string{
				"Cargo.toml": "[package]\nname = \"greet\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
				"src/lib.rs": "pub fn hello(name: &str) -> String {\n    format!(\"Helo, {name}!\")\n}\n",
			},
			product: "src/lib.rs", report: report(`greet::hello("Ann")`), path: "tests/reported_hello_is_spelled_wrong.rs", test: "hello_is_spelled_wrong",
			program: []string{"cargo", "test", "--offline", "--quiet"},
		},
	}
}

func tree(files map[string]string) fstest.MapFS {
	fs := fstest.MapFS{}
	for name, content := range files {
		fs[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return fs
}

func TestAReportedCallBecomesATestThatFailsUntilItsResultIsRight(t *testing.T) {
	for name, r := range repositories() {
		t.Run(name, func(t *testing.T) {
			got, ok := reproduce.Find(tree(r.files), r.report)
			if !ok || got.Path != r.path || got.Name != r.test || got.Want != "Hello, Ann!" {
				t.Fatalf("Find is %+v, %v, want the test %s in %s", got, ok, r.test, r.path)
			}
			if _, err := exec.LookPath(r.program[0]); err != nil {
				t.Skipf("%s is not installed here", r.program[0])
			}
			dir := t.TempDir()
			write := func(name, content string) {
				t.Helper()
				file := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for name, content := range r.files {
				write(name, content)
			}
			write(got.Path, got.Content)
			run := func() (string, error) {
				c := exec.Command(r.program[0], r.program[1:]...)
				c.Dir, c.Env = dir, append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
				var out bytes.Buffer
				c.Stdout, c.Stderr = &out, &out
				err := c.Run()
				return out.String(), err
			}
			if out, err := run(); err == nil || !strings.Contains(out, "Helo, Ann!") {
				t.Errorf("before the fix the test ends with %v and prints\n%s\nwant a failure that names the wrong result\n%s", err, out, got.Content)
			}
			write(r.product, strings.ReplaceAll(r.files[r.product], "Helo", "Hello"))
			if out, err := run(); err != nil {
				t.Errorf("after the fix the test fails: %v\n%s\n%s", err, out, got.Content)
			}
		})
	}
}

func TestAReportSaysTheRightResultInSeveralWays(t *testing.T) {
	greet := tree(repositories()["a Go package"].files)
	for name, r := range map[string]reproduce.Report{
		"a code block":                   {Steps: "```go\ngreet.Hello(\"Ann\")\n```", Expected: "```\nHello, Ann!\n```"},
		"a literal without code":         {Steps: "`greet.Hello(\"Ann\")`", Expected: `"Hello, Ann!"`},
		"a call without code":            {Steps: "Call greet.Hello(\"Ann\") (version 2).", Expected: `"Hello, Ann!"`},
		"want":                           {Body: "`greet.Hello(\"Ann\")` returns `Helo, Ann!`, want `Hello, Ann!`."},
		"should be, instead of":          {Body: "`greet.Hello(\"Ann\")` should be `Hello, Ann!` instead of `Helo, Ann!`."},
		"is, instead of":                 {Body: "`greet.Hello(\"Ann\")` is `Helo, Ann!` instead of `Hello, Ann!`."},
		"should return":                  {Body: "I think `greet.Hello(\"Ann\")` should return `Hello, Ann!`."},
		"the function without a package": {Steps: "`Hello(\"Ann\")`", Expected: "`Hello, Ann!`"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := reproduce.Find(greet, r); !ok || strings.Trim(got.Want, `"`) != "Hello, Ann!" {
				t.Errorf("Find is %+v, %v, want a test for Hello, Ann!", got, ok)
			}
		})
	}
}

func TestAReportThatAsksForMoreThanACallOfTheRepositoryBecomesNoTest(t *testing.T) {
	for name, r := range map[string]struct{ repository, call, want string }{
		"a function that the repository does not have": {"a Go package", `greet.Bye("Ann")`, "`Bye`"},
		"a package of the language":                    {"a Go package", `os.RemoveAll("/")`, "`nil`"},
		"a call as an argument":                        {"a Go package", `greet.Hello(os.Getenv("TOKEN"))`, "`x`"},
		"a function literal":                           {"a Go package", `greet.Hello(func() string { panic(1) }())`, "`x`"},
		"two calls":                                    {"a Go package", `greet.Hello("Ann") + greet.Hello("Bob")`, "`x`"},
		"a name as an argument":                        {"a Python module", `greet.hello(__import__("os"))`, "`x`"},
		"an expression as an argument":                 {"a Python module", `greet.hello("a" * 9)`, "`x`"},
		"text after the call":                          {"a Python module", `greet.hello("a"); print(1)`, "`x`"},
		"brackets that close the call":                 {"a Python module", `greet.hello("a"), greet.hello("b")`, "`x`"},
		"a template literal":                           {"an ECMAScript module", "hello(`${process.exit()}`)", "`x`"},
		"no result":                                    {"a Go package", `greet.Hello("Ann")`, "It should be right."},
		"two results":                                  {"a Go package", `greet.Hello("Ann")`, "`a` or `b`"},
		"a macro":                                      {"a crate", `std::fs::read("x")`, "`x`"},
	} {
		t.Run(name, func(t *testing.T) {
			files := tree(repositories()[r.repository].files)
			got, ok := reproduce.Find(files, reproduce.Report{Title: "t", Steps: "``" + r.call + "``\n```\n" + r.call + "\n```", Expected: r.want})
			if ok {
				t.Errorf("Find is %+v, want no test", got)
			}
		})
	}
}

func TestProseWithSeveralCallsBecomesNoTest(t *testing.T) {
	greet := tree(repositories()["a Go package"].files)
	for _, steps := range []string{`Call greet.Hello("Ann"), then greet.Hello("Bob").`, `Call greet.Hello(os.Getenv("TOKEN")).`, `greet.Hello("Ann") + "x" + f()`} {
		if got, ok := reproduce.Find(greet, reproduce.Report{Title: "t", Steps: steps, Expected: "`x`"}); ok {
			t.Errorf("of %s Find makes %+v", steps, got)
		}
	}
}

func FuzzAReportNeverBreaksTheSearch(f *testing.F) {
	f.Add(`greet.Hello("Ann")`, "`Hello`", "")
	f.Add("hello(", "```\n```", "`f(1)` is `2`, want `3`")
	var trees []fstest.MapFS
	for _, r := range repositories() {
		trees = append(trees, tree(r.files))
	}
	f.Fuzz(func(t *testing.T, call, want, body string) {
		for _, files := range trees {
			got, ok := reproduce.Find(files, reproduce.Report{Title: call, Steps: "`" + call + "`", Expected: want, Body: body})
			if ok && (got.Path == "" || strings.Contains(got.Path, "..") || got.Name == "") {
				t.Errorf("Find is %+v", got)
			}
		}
	})
}
