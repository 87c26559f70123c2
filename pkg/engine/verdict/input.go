package verdict

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Input is all that a judgement is made from. All runs are of one command. The first run of
// Base and of Change is of all tests; later runs may be of some tests by name.
type Input struct {
	Kind         Kind
	Base, Change string // the commits

	OnBase   []Run // of the base
	OnChange []Run // of the change, with the files of Aside as they were on the base
	// OnProof are runs of the base with the test files of the change added to it. They are
	// asked for by Next if Written is not empty.
	OnProof []Run
	// AsChanged is a run of the change with all its files. Nil: nothing was set aside.
	AsChanged *Run

	Aside    []string  // files of the change that decide how it is tested
	AllAside bool      // no other files were changed
	Written  []Written // test files that the change adds or alters
	Listed   []string  // the tests that the base's runner lists; empty: it cannot list them
	Accepted []Accepted

	// Whole means that the tests cannot be run by name: each run is of all tests.
	Whole bool
	// FlakeRuns is how often a red test is run again before it is believed; 0: never.
	FlakeRuns int
	// Words are the words of the report and the plan. A test that does not compile on the
	// base counts only if the missing name is one of them.
	Words string
	// Wanted and Wrong are the values that the report expects and complains about.
	Wanted, Wrong string
	Findings      []string // more of them, which the caller found
	Lost          bool     // tests that are gone or skipped are findings, and no reason to refuse
	Distrust      string   // why passing tests of this change show nothing; empty if they do
	BaseCount     Count    // of the runner's own count; zero: it does not count
	ChangeCount   Count
}

// Written is a test file that a role wrote.
type Written struct {
	File string
	By   string // the role, or human
	Self bool   // the role writes the code as well: its word on tests is not taken without a question
}

// Place is where tests are run.
type Place string

// The places of a Request.
const (
	OnBase   Place = "base"
	OnChange Place = "change"
	OnProof  Place = "proof" // on the base with the test files of the change added
)

// Request asks for further runs.
type Request struct {
	On    Place
	Names []string // of tests; empty: all
	Times int
}

// baseRuns is how many runs of the base have to be green before a test that flips on the
// change counts as made flaky by it.
const baseRuns = 10

// maxRerun is how many tests are run again by name. More that fail together are no flakes.
const maxRerun = 20

// history is what became of one test in all runs at one place.
type history struct {
	pass, fail, skip     int
	wholePass, wholeFail int  // in runs of all tests
	last                 Test // its first failure, else its newest outcome
}

func (h history) flaky() bool { return h.pass > 0 && h.fail > 0 }

// onlyAmongAll reports whether the test failed only in runs of all tests, and passes by name.
// It may depend on the time that the other tests leave it, or on what they leave.
func (h history) onlyAmongAll() bool {
	return h.fail > 0 && h.wholeFail == h.fail && h.wholePass == 0 && h.pass > 0
}

// steady returns how often a test of the base, which has the history h, passed in runs like
// those in which it failed on the change.
func (h history) steady(onChange history) int {
	if onChange.onlyAmongAll() {
		return h.wholePass
	}
	return h.pass
}

// place is what all runs at one place say. whole is the name of a run as a whole.
type place struct {
	runs  []Run
	tests map[string]history
	whole string
}

func at(whole string, runs []Run, proof bool) place {
	p := place{runs, map[string]history{}, whole}
	for _, r := range runs {
		for _, t := range r.effective(whole) {
			if t.Outcome == Skip && len(r.Only) > 0 && !slices.Contains(r.Only, t.Name) {
				continue // it was not asked for: some runners say so as a skip
			}
			if t.Name != whole || len(r.Only) == 0 || proof { // a run by name does not stand for all tests
				p.tests[t.Name] = p.tests[t.Name].with(t, len(r.Only) == 0)
			}
		}
	}
	return p
}

// with returns the history with one more outcome. whole means that the run was of all tests.
func (h history) with(t Test, whole bool) history {
	if h.fail == 0 {
		h.last = t
	}
	one := 0
	if whole {
		one = 1
	}
	switch t.Outcome {
	case Pass:
		h.pass++
		h.wholePass += one
	case Fail:
		h.fail++
		h.wholeFail += one
	case Skip:
		h.skip++
	}
	return h
}

// of returns the history of a test. A runner that names failing tests alone ran a test that
// it does not name without a failure.
func (p place) of(name string) history {
	h := p.tests[name]
	for _, r := range p.runs {
		silent := !r.Named && (r.OK || r.fails()) && (len(r.Only) == 0 || slices.Contains(r.Only, name))
		if name == p.whole {
			silent = r.OK && len(r.Only) == 0
		}
		if silent && !slices.ContainsFunc(r.effective(p.whole), func(t Test) bool { return t.Name == name }) {
			h = h.with(Test{Name: name, Outcome: Pass}, len(r.Only) == 0)
		}
	}
	return h
}

// effective returns the tests of a run. A run of all tests that fails and names no failing
// test is itself a failing test, and so is one that passes and names none.
func (r Run) effective(whole string) []Test {
	switch {
	case len(r.Only) > 0 && (r.OK || r.fails() || CauseOf(r.Output) != Compile):
	case !r.OK && !r.fails():
		return append(slices.Clone(r.Tests), Test{Name: whole, Outcome: Fail, Cause: CauseOf(r.Output), Output: r.Output, Missing: MissingIn(r.Output)})
	case r.OK && len(r.Tests) == 0 && !r.Named:
		return []Test{{Name: whole, Outcome: Pass}}
	}
	return r.Tests
}

func (r Run) fails() bool {
	return slices.ContainsFunc(r.Tests, func(t Test) bool { return t.Outcome == Fail })
}

var (
	unloaded = lazyregexp.New(`(?m)(?:SyntaxError|IndentationError|ImportError|ModuleNotFoundError|NameError: name|ReferenceError|` +
		`Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND|does not provide an export named|is not a function|` +
		`AttributeError: (?:module|type object|'\w+' object)|undefined: |has no field or method|not declared by package|` +
		`cannot find (?:function|value|type|module|macro|symbol|crate)|no (?:method|function or associated item) named|unresolved import|` +
		`error\[E\d+\]|undefined (?:method|local variable|reference)|uninitialized constant|NoMethodError|\[build failed\]|\[setup failed\]|compilation failed|COMPILATION ERROR|` +
		`command not found|: not found|No such file or directory|can't open file|cannot open)`)
	stopped = lazyregexp.New(`(?m)^stopped |panic: test timed out|timed out after|Test timed out`)
	missing = lazyregexp.New(`undefined: (?:\w+\.)?(\w+)|has no field or method (\w+)|cannot import name '(\w+)'|No module named '(?:[\w.]+\.)?(\w+)'|` +
		`has no attribute '(\w+)'|name '(\w+)' is not defined|(\w+) is not defined|export named '(\w+)'|(?:\w+\.)*(\w+) is not a function|` +
		"cannot find (?:function|value|type|module|macro|crate) `(\\w+)`|named `(\\w+)`|unresolved import `(?:\\w+::)*(\\w+)`|" +
		"undefined (?:method|local variable or method) [`'](\\w+)'|uninitialized constant (?:\\w+::)*(\\w+)|symbol:\\s+\\w+ (\\w+)")
)

// CauseOf returns the cause of a failure by its output. Output that shows no other cause is
// that of a check that ran and failed.
func CauseOf(output string) Cause {
	switch {
	case stopped.MatchString(output):
		return Timeout
	case unloaded.MatchString(output):
		return Compile
	}
	return Assertion
}

// MissingIn returns the name that a program reports as not defined; empty if it names none.
func MissingIn(output string) string {
	m := missing.FindStringSubmatch(output)
	for _, name := range m[min(len(m), 1):] {
		if name != "" {
			return name
		}
	}
	return ""
}

// mentions reports whether the words of a report have a name as a word of its own.
func mentions(words, name string) bool {
	return name != "" && slices.Contains(strings.FieldsFunc(words, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}), name)
}
