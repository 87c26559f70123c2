package testrun

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

var (
	unittestRan     = lazyregexp.New(`(?m)^Ran (\d+) tests? in [\d.]+s$`)
	unittestSkipped = lazyregexp.New(`(?m)^(?:OK|FAILED) \(.*\b(?:skipped|expected failures)=(\d+)`)
	unittestHead    = lazyregexp.New(`^(?:ERROR|FAIL): (\S+ \(\S+\).*|setUp\S+ \(\S+\))$`)
	unittestEnd     = lazyregexp.New(`^(={70}|Ran \d+ tests? in .*)$`)

	// The lines of -v. A test with a docstring has its result a line later, and one that
	// prints has it wherever its output ends.
	unittestBegins = lazyregexp.New(`^(\S+) \(([\w.]+)\)(.*)$`)
	unittestEnds   = lazyregexp.New(`(?:^|\.\.\. |[^\w])(ok|FAIL|ERROR|skipped ['"].*|expected failure|unexpected success)$`)
	unittestLoader = lazyregexp.New(`^unittest\.loader\._FailedTest\.`)
)

// unittest parses the output of Python's unittest.
func unittest(text string) report {
	ran, counted := sum(text, unittestRan)
	if !counted {
		return report{}
	}
	r := report{counted: true}
	tests := map[string]bool{}
	for _, f := range sections(text, unittestHead, unittestEnd) {
		test, in, _ := strings.Cut(f.name, " (")
		in, sub, _ := strings.Cut(in, ")")
		in = unittestID(test, in)
		tests[in] = true
		f.name, f.output = in+sub, strings.ReplaceAll(f.output, strings.Repeat("-", 70), "")
		if unittestLoader.MatchString(f.name) {
			f.cause = verdict.Compile
		}
		r.failures = append(r.failures, f)
	}
	skipped, _ := sum(text, unittestSkipped)
	r.passed = max(0, ran-skipped-len(tests))
	r.skipped = skipped
	r.unittestNames(text, tests)
	return r
}

// unittestID returns the dotted name of a test. Before Python 3.11 the parentheses have
// the class alone.
func unittestID(test, in string) string {
	if strings.HasSuffix(in, "."+test) {
		return in
	}
	return in + "." + test
}

// unittestNames adds the tests that did not fail, as -v prints them.
func (r *report) unittestNames(text string, failed map[string]bool) {
	text, _, _ = strings.Cut(text, strings.Repeat("=", 70))
	current := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		rest := line
		if m := unittestBegins.FindStringSubmatch(line); m != nil && strings.Contains(m[2], ".") {
			current, rest = unittestID(m[1], m[2]), m[3]
		}
		m := unittestEnds.FindStringSubmatch(rest)
		if m == nil || current == "" {
			continue
		}
		switch {
		case failed[current]:
		case m[1] == "ok":
			r.pass(current)
		case strings.HasPrefix(m[1], "skipped"), m[1] == "expected failure":
			r.skip(current)
		case m[1] == "unexpected success":
			r.failures = append(r.failures, failure{name: current, output: m[1], cause: verdict.Assertion})
		}
		current = ""
	}
}
