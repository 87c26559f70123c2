package testrun

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

var update = flag.Bool("update", false, "write testdata/outcomes.golden")

// describe returns a run as lines: whether it names its tests, then each with its cause,
// the name that is missing and its file.
func describe(run verdict.Run) string {
	lines := []string{fmt.Sprintf("named: %t", run.Named)}
	for _, t := range run.Tests {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("  %s %q %s %s %s", t.Outcome, t.Name, t.Cause, t.Missing, t.File)), " "))
	}
	return strings.Join(lines, "\n")
}

// read returns the run of an output of a tool.
func read(output string) verdict.Run {
	out := clean(output, "/home/dev/money")
	return outcomes(instance.Evidence{}, parse(events(out), out, false), out, "/home/dev/money")
}

func TestEachTestOfARunHasItsOutcomeAndItsCause(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob("testdata/*.json")
	var got strings.Builder
	for _, name := range append(files, more...) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s %s\n", filepath.Base(name), describe(read(string(b))))
	}
	const golden = "testdata/outcomes.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTheMissingNameIsTakenFromTheOutput(t *testing.T) {
	for output, want := range map[string]string{
		"./a_test.go:3:7: undefined: Truncate":                                                        "Truncate",
		"./a_test.go:3:7: undefined: text.Truncate":                                                   "Truncate",
		"./a_test.go:3:7: s.Peek undefined (type *Stack has no field or method Peek)":                 "Peek",
		"./a_test.go:3:7: too many arguments in call to greet.Hello\n\thave (string, int)":            "Hello",
		"error[E0425]: cannot find function `truncate` in this scope":                                 "truncate",
		"error[E0599]: no method named `peek` found for struct `Stack` in the current scope":          "peek",
		"error[E0432]: unresolved import `rs::later`":                                                 "later",
		"E   ImportError: cannot import name 'later' from 'money' (money.py)\ntests/test_a.py:1: x":   "later",
		"TypeError: m.nofn is not a function\n    at Object.<anonymous> (a.test.js:2:51)":             "nofn",
		"SyntaxError: The requested module './a.js' does not provide an export named 'truncate'":      "truncate",
		"[ERROR] T.java:[9,10] cannot find symbol\n[ERROR]   symbol:   method truncate(String,int)\n": "truncate",
		"error TS2339: Property 'peek' does not exist on type 'Stack'.":                               "peek",
	} {
		f := failure{name: "x", output: output}.explain()
		if f.cause != verdict.Compile || f.missing != want {
			t.Errorf("%q is %s of %q, want compile of %q", output, f.cause, f.missing, want)
		}
	}
	for _, output := range []string{ // the product's own fault shows the bug
		"TypeError: name.trim is not a function\n    at greet (/home/dev/src/greet.js:2:51)\n    at Object.<anonymous> (a.test.js:2:51)",
		"  File \"tests/test_a.py\", line 6, in test_bad\n  File \"greet.py\", line 2, in greet\nNameError: name 'nmae' is not defined",
		"E  AttributeError: 'NoneType' object has no attribute 'strip'\n\ngreet.py:4: AttributeError",
	} {
		if f := (failure{name: "x", output: output}).explain(); f.cause != verdict.Assertion {
			t.Errorf("%q is %s, want assertion", output, f.cause)
		}
	}
}

func TestTestsOfOneNameAreNumberedSoThatOneMoreFailureIsSeen(t *testing.T) {
	make := func(outcomes ...verdict.Outcome) (tests []verdict.Test) {
		for _, o := range outcomes {
			tests = append(tests, verdict.Test{Name: "rounds", Outcome: o})
		}
		return unique(tests)
	}
	for _, c := range [][]verdict.Outcome{{verdict.Fail, verdict.Pass}, {verdict.Pass, verdict.Fail}} {
		got := make(c...)
		if got[0] != (verdict.Test{Name: "rounds", Outcome: verdict.Pass}) || got[1] != (verdict.Test{Name: "rounds #2", Outcome: verdict.Fail}) {
			t.Errorf("got %+v", got)
		}
	}
}

func TestAReportInJUnitsFormIsReadWholeInEveryDialect(t *testing.T) {
	report := `<?xml version="1.0"?>
<testsuites tests="99" failures="0">
  <testcase name="at the root" classname="test" time="1,002.5"/>
  <testsuite name="S"><testsuite name="inner">
    <testcase classname="org.M" name="adds"/>
    <testcase classname="org.M" name="adds"/>
    <testcase classname="org.M" name="rounds"><failure message="99 != 100" type="AssertionError">at M.java:3</failure></testcase>
    <testcase classname="org.M" name="flaky"><flakyFailure message="once"/></testcase>
    <testcase classname="org.M" name="later"><skipped/></testcase>
    <testcase classname="" name="tests.test_bad"><error message="collection failure">ModuleNotFoundError: No module named 'nothere'</error></testcase>
  </testsuite></testsuite>
</testsuites>`
	r, err := junit(strings.NewReader(report))
	if err != nil {
		t.Fatal(err)
	}
	want := `named: true
pass "at the root"
pass "org.M.adds"
pass "org.M.adds #2"
pass "org.M.flaky"
skip "org.M.later"
fail "org.M.rounds" assertion
fail "tests.test_bad" compile nothere`
	if diff := cmp.Diff(want, describe(outcomes(instance.Evidence{}, r, "", "/x"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if r, err := junit(strings.NewReader("<testsuites tests='5'/>")); r.counted || err != nil {
		t.Errorf("a report without cases counts as %+v, %v", r, err)
	}
}

func TestReportsAreReadFromTheTreeAndOldOnesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plan := Plan{Report: "**/target/surefire-reports/TEST-*.xml"}
	write("a/target/surefire-reports/TEST-old.xml", `<testsuite><testcase name="old"/></testsuite>`)
	if err := plan.removeReports(dir); err != nil {
		t.Fatal(err)
	}
	write("a/target/surefire-reports/TEST-x.xml", `<testsuite><testcase name="x"/></testsuite>`)
	write("target/surefire-reports/TEST-y.xml", `<testsuite><testcase name="y"/></testsuite>`)
	outside := filepath.Join(t.TempDir(), "TEST-z.xml")
	if err := os.WriteFile(outside, []byte(`<testsuite><testcase name="z"/></testsuite>`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "target/surefire-reports/TEST-z.xml")); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range plan.reports(dir).others {
		names = append(names, o.Name)
	}
	if !slices.Equal(names, []string{"x", "y"}) {
		t.Errorf("read %q", names)
	}
}

func TestOnlySelectsTheNamedTests(t *testing.T) {
	js := func(test string) fstest.MapFS {
		b, _ := json.Marshal(map[string]any{"scripts": map[string]string{"test": test}})
		return fstest.MapFS{"package.json": {Data: b}}
	}
	for name, c := range map[string]struct {
		tree  fstest.MapFS
		names []string
		want  string // "" if they cannot be selected
	}{
		"Go": {fstest.MapFS{"go.mod": {}}, []string{"example.com/m/a.TestA", "example.com/m.b/c.TestB"},
			"go test -json -count=1 -run ^(TestA|TestB)$ example.com/m.b/c example.com/m/a"},
		"Go subtests": {fstest.MapFS{"go.mod": {}}, []string{"x/a.TestA/1.5_(a)/b", "x/a.TestA/two/c"},
			`go test -json -count=1 -run ^(TestA)$/^(1\.5_\(a\)|two)$/^(b|c)$ x/a`},
		"Go with its parent": {fstest.MapFS{"go.mod": {}}, []string{"x/a.TestA", "x/a.TestA/two"}, "go test -json -count=1 -run ^(TestA)$ x/a"},
		"Go that does not build": {fstest.MapFS{"go.mod": {}}, []string{"x/a (build failed)", "x/b.TestB"},
			"go test -json -count=1 -run . x/a x/b"},
		"pytest": {fstest.MapFS{"pytest.ini": {}}, []string{"tests/test_a.py::T::test_b[x - y]"},
			"python3 -m pytest -v -rfEp -p no:cacheprovider tests/test_a.py::T::test_b[x - y]"},
		"unittest": {fstest.MapFS{"tests/test_a.py": {Data: []byte("import unittest")}}, []string{"test_a.T.test_b (i=2)"},
			"python3 -m unittest discover -v -s tests -k test_a.T.test_b"},
		"cargo": {fstest.MapFS{"Cargo.toml": {}}, []string{"rs tests::a", "doc rs src/lib.rs - doc (line 2)"},
			"cargo test --no-fail-fast -- --exact src/lib.rs - doc (line 2) tests::a"},
		"jest": {js("jest"), []string{"a.test.js › money › rounds", "b.test.js › x (y)"},
			`npm test -- --verbose a.test.js b.test.js -t ^(money rounds|x \(y\))$`},
		"jest, a file that does not load": {js("jest"), []string{"b.test.js (suite failed to run)"}, "npm test -- --verbose b.test.js"},
		"vitest":                          {js("tsc && vitest run"), []string{"a.test.js > money > rounds"}, "npm test -- --reporter=verbose a.test.js -t ^(money rounds)$"},
		"mocha":                           {js("nyc mocha"), []string{"money > rounds #2"}, "npm test -- -g ^(money rounds)$"},
		"node": {js("node --test --test-reporter=tap test/"), []string{"money > it's"},
			`PATH="$PWD/node_modules/.bin:$PATH"; node --test --test-name-pattern='^it'\''s$' --test-name-pattern='^money$' --test-reporter=tap test/`},
		"mocha behind a program with options": {js("c8 --reporter=text --reporter=html mocha test/*.mjs"), []string{"money > rounds"},
			`npm test -- -g ^(money rounds)$`},
		"prove": {fstest.MapFS{"Makefile.PL": {}, "t/a.t": {}}, []string{"t/a.t > adds", "t/a.t > rounds"}, "prove --lib --verbose --merge t/a.t"},
		"ctest": {fstest.MapFS{"CMakeLists.txt": {Data: []byte("enable_testing()")}}, []string{"good", "a+b"},
			"cmake -S . -B .signalbox-build && cmake --build .signalbox-build && ctest --test-dir .signalbox-build --output-on-failure -R '^(a\\+b|good)$'"},
		"a script of several programs": {js("jest; true"), []string{"a.test.js › rounds"}, ""},
		"a configured command":         {fstest.MapFS{ConfigFile: {Data: []byte("test: {command: make check}")}}, []string{"a"}, ""},
		"no test":                      {fstest.MapFS{"go.mod": {}}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := Detect(c.tree)
			if err != nil {
				t.Fatal(err)
			}
			before := plan.Command()
			only, ok := plan.Only(c.names)
			if ok != (c.want != "") || ok && only.Command() != c.want {
				t.Errorf("got %q, %v, want %q", only.Command(), ok, c.want)
			}
			if plan.Command() != before {
				t.Errorf("the plan became %q", plan.Command())
			}
		})
	}
}
