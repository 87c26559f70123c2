package testrun

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The files in testdata are what the tools really printed.
func TestParseCountsAndNamesWhatEachToolPrinted(t *testing.T) {
	for _, c := range []struct {
		file   string
		passed int
		failed []string
		says   []string // in the telling part, in this order
		never  []string
	}{
		{
			file: "go.json", passed: 2,
			failed: []string{
				"example.com/money/a.ExampleCents", "example.com/money/a.TestRounds", "example.com/money/a.TestTable/two_words",
				"example.com/money/b.TestPanics", "example.com/money/c (build failed)", "example.com/money/e (build failed)",
			},
			says: []string{
				"--- FAIL: example.com/money/a.ExampleCents", "want:\n101", "a_test.go:4: Cents(0.999) = 99, want 100", "a_test.go:5: bad",
				"panic: assignment to entry in nil map", "--- FAIL: example.com/money/c (build failed)", `cannot use "no"`, "fmt.Printf format %d",
			},
			never: []string{"=== RUN", "(0.00s)", "TestOK", "later"},
		},
		{
			file:   "go-timeout.json",
			failed: []string{"x.TestSlow"},
			says:   []string{"--- FAIL: x.TestSlow", "panic: test timed out after 1s"},
		},
		{
			file: "go.txt",
			failed: []string{
				"example.com/money/a.ExampleCents", "example.com/money/a.TestRounds", "example.com/money/a.TestTable/two_words",
				"example.com/money/b.TestPanics", "example.com/money/c (build failed)", "example.com/money/e (build failed)",
			},
			says: []string{"want:\n101", "Cents(0.999) = 99, want 100", "a_test.go:5: bad", "panic: assignment to entry in nil map", `cannot use "no"`, "fmt.Printf format %d"},
		},
		{
			file: "go-v.txt", passed: 2,
			failed: []string{"example.com/money/a.ExampleCents", "example.com/money/a.TestRounds", "example.com/money/a.TestTable/two_words"},
			says:   []string{"want:\n101", "Cents(0.999) = 99, want 100", "hello\n    a_test.go:5: bad"},
			never:  []string{"later"},
		},
		{
			file: "pytest.txt", passed: 4,
			failed: []string{"tests/test_money.py::test_rounds", "tests/test_money.py::test_store"},
			says:   []string{"AssertionError: assert 99 == 100", "--- FAIL: tests/test_money.py::test_store", "RuntimeError: no database"},
			never:  []string{"short test summary"},
		},
		{
			file:   "pytest-collect.txt",
			failed: []string{"tests/test_money.py"},
			says:   []string{"ModuleNotFoundError: No module named 'nothere'"},
			never:  []string{"Interrupted"},
		},
		{file: "pytest-pass.txt", passed: 1},
		{
			file: "unittest.txt", passed: 1,
			failed: []string{
				"tests.test_money.Money.test_bad", "tests.test_money.Money.test_err", "tests.test_money.Money.test_sub (i=2)",
			},
			says: []string{"AssertionError: 150 != 149", "RuntimeError: boom", "AssertionError: 2 != 1"},
		},
		{
			file: "cargo.txt", passed: 1,
			failed: []string{"doc rs src/lib.rs - doc (line 2)", "it outside", "rs tests::panics", "rs tests::rounds"},
			says:   []string{"right: 101", `assertion failed: rs::cents("2") == 201`, "did not panic as expected", "right: 100"},
		},
		{
			file:   "cargo-build.txt",
			failed: []string{"rs (build failed)"},
			says:   []string{"this file contains an unclosed delimiter"},
		},
		{
			file: "node-tap.txt", passed: 2,
			failed: []string{"money > negative", "rounds"},
			says:   []string{"-1 !== -100", "error: '99 == 100'"},
			never:  []string{"duration_ms", "node:internal"},
		},
		{
			file: "node-spec.txt", passed: 2,
			failed: []string{"money > negative", "rounds"},
			says:   []string{"-1 !== -100", "99 == 100"},
			never:  []string{"node:internal"},
		},
		{
			file: "jest.txt", passed: 1,
			failed: []string{"a.test.js › money › neg › minus", "a.test.js › money › rounds", "b.test.js (suite failed to run)"},
			says:   []string{`"a": 2`, "Expected: 100", "Cannot find module 'nothere'"},
			never:  []string{"node_modules"},
		},
		{
			file: "vitest.txt", passed: 1,
			failed: []string{"a.test.js > money > neg > minus", "a.test.js > money > rounds", "b.test.js [ b.test.js ]"},
			says:   []string{"to deeply equal { a: 2 }", "expected 99 to be 100", "Cannot find package 'nothere'"},
		},
		{
			file: "mocha.txt", passed: 1,
			failed: []string{"money > neg > minus", "money > rounds"},
			says:   []string{"should loosely deep-equal", "99 == 100"},
		},
		{
			file: "tape.txt", passed: 3,
			failed: []string{"stringify() > uses the delimiter"},
			says:   []string{"expected: 'a;b'", "actual:   'a&b'"},
		},
		{
			file: "prove.txt", passed: 4,
			failed: []string{"t/a.t > inner", "t/a.t > rounds", "t/b.t", "t/e.t > (ends early)"},
			says:   []string{"got: '99'", "Can't locate Nothing/Here.pm", "stop at t/e.t line 1"},
		},
		{
			file: "ctest.txt", passed: 1,
			failed: []string{"bad", "crash", "gone"},
			says:   []string{"got 1, want 2", "Subprocess aborted", "Not Run"},
		},
		{
			file: "test-unit.txt", passed: 1,
			failed: []string{"TestMoney#test_rounds", "TestMoney#test_store"},
			says:   []string{"<100> expected but was", "rb/test_money.rb:4"},
			never:  []string{"Omission"},
		},
		{
			file: "minitest.txt", passed: 1,
			failed: []string{"TestMini#test_rounds", "TestMini#test_store"},
			says:   []string{"Expected: 100", "RuntimeError: no database"},
		},
		{file: "none-cargo.txt"}, {file: "none-go.txt"}, {file: "none-jest.txt"}, {file: "none-mocha.txt"},
		{file: "none-node.txt"}, {file: "none-pytest.txt"}, {file: "none-unittest.txt"}, {file: "none-vitest.txt"},
	} {
		t.Run(c.file, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			out := clean(string(b), "/home/dev/money")
			r := parse(events(out), out, false)
			if !r.counted {
				t.Error("the tool was not recognised")
			}
			if r.passed != c.passed {
				t.Errorf("passed = %d, want %d", r.passed, c.passed)
			}
			if diff := cmp.Diff(c.failed, r.names()); diff != "" {
				t.Errorf("failed (-want +got):\n%s", diff)
			}
			rest := r.text(withoutEvents(out))
			for _, never := range c.never {
				if strings.Contains(rest, never) {
					t.Errorf("the telling part has %q:\n%s", never, rest)
				}
			}
			for _, s := range c.says {
				_, after, found := strings.Cut(rest, s)
				if !found {
					t.Fatalf("the telling part lacks %q, or has it out of order:\n%s", s, r.text(out))
				}
				rest = after
			}
		})
	}
}

func TestParseLeavesUnknownOutputUncounted(t *testing.T) {
	r := parse(events(""), "checking 12 files\nall fine, 3 passed in total\nwarning: FAILED to load\n", true)
	if r.counted || r.passed != 0 || len(r.failures) != 0 {
		t.Errorf("got %+v", r)
	}
}

func TestParseAddsUpSeveralToolsOfOneCommand(t *testing.T) {
	r := parse(events(""), "ok  \tx\t0.01s\n===== 2 failed, 3 passed in 0.10s =====\nFAILED a.py::x - boom\nFAILED a.py::y[a - b] - boom\n", false)
	if diff := cmp.Diff([]string{"a.py::x", "a.py::y[a - b]"}, r.names()); diff != "" || r.passed != 4 {
		t.Errorf("passed %d, failed (-want +got):\n%s", r.passed, diff)
	}
}

// events are those in the output, written in pieces as a pipe gives them.
func events(out string) *goEvents {
	var g goEvents
	for piece := range slices.Chunk([]byte(out), 1000) {
		g.Write(piece)
	}
	return &g
}

func TestGoEventsKeepBothEndsOfWhatATestPrints(t *testing.T) {
	var s said
	s.add("first\n")
	for range 100_000 {
		s.add("again and again\n")
	}
	s.add("last\n")
	if out := s.String(); !strings.HasPrefix(out, "first\n") || !strings.HasSuffix(out, "\nlast\n") || len(out) > 4*maxTestSaid {
		t.Errorf("kept %d bytes, from %.20q to %q", len(out), out, out[len(out)-20:])
	}
}
