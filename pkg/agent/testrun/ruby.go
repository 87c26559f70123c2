package testrun

import (
	"io/fs"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// rakeTest matches the definition of a task that runs tests.
var rakeTest = lazyregexp.New(`(?m)^\s*(?:Rake::TestTask\.new\b(?:\s*$|\s*(?:do|\{)|\s*\(?\s*["':]{0,2}test\b)|task\s*\(?\s*(?::test\b|["']test["']|["']?test["']?\s*(?::|=>)))`)

// ruby detects a Rakefile with a task named test.
func ruby(tree fs.FS, _ string) (Plan, bool, error) {
	for _, name := range []string{"Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"} { // as rake looks
		if exists(tree, name) {
			return Plan{Tool: "rake", Runner: "rake", Source: name, Argv: []string{"rake", "test"}}, rakeTest.MatchString(text(tree, name)), nil
		}
	}
	return Plan{}, false, nil
}

var (
	testUnitHead  = lazyregexp.New(`^(?:Failure|Error): (test[^\n]*?\([\w:]+\))(?::.*|\.)?$`)
	testUnitEnd   = lazyregexp.New(`^(?:={20,}|Finished in [\d.]+ seconds\.|(?:Omission|Pending|Notification): .*)$`)
	testUnitTotal = lazyregexp.New(`(?m)^(\d+) tests, \d+ assertions, (\d+) failures, (\d+) errors, (\d+) pendings, (\d+) omissions, \d+ notifications$`)
	testUnitName  = lazyregexp.New(`^(.+?)\((.+)\)$`)

	minitestHead  = lazyregexp.New(`^(?: +\d+\) (?:Failure|Error):|(?:Failure|Error):)$`)
	minitestTitle = lazyregexp.New(`^(\S.*#\S.*?)(?: \[([^\]]+?):\d+\])?:$`)
	minitestEnd   = lazyregexp.New(`^(?:\d+ runs, .*| +\d+\) Skipped:|bin/rails test .*|rails test .*)$`)
	minitestTotal = lazyregexp.New(`(?m)^(\d+) (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors, (\d+) skips$`)
)

// testUnit parses the output of Ruby's test-unit, which names the tests that fail.
func testUnit(text string) report {
	totals := testUnitTotal.FindAllStringSubmatch(text, -1)
	if totals == nil {
		return report{}
	}
	r := report{counted: true}
	for _, m := range totals {
		n := numbers(m[1:])
		r.passed += max(0, n[0]-n[1]-n[2]-n[3]-n[4])
		r.skipped += n[3] + n[4]
	}
	seen := map[string]bool{}
	for _, f := range sections(text, testUnitHead, testUnitEnd) {
		if m := testUnitName.FindStringSubmatch(f.name); m != nil {
			f.name = m[2] + "#" + m[1]
		}
		if !seen[f.name] { // a test may fail more than once
			r.failures = append(r.failures, f)
		}
		seen[f.name] = true
	}
	return r
}

// minitest parses the output of Ruby's Minitest, which names the tests that fail.
func minitest(text string) report {
	totals := minitestTotal.FindAllStringSubmatch(text, -1)
	if totals == nil {
		return report{}
	}
	r := report{counted: true}
	for _, m := range totals {
		n := numbers(m[1:])
		r.passed += max(0, n[0]-n[1]-n[2]-n[3])
		r.skipped += n[3]
	}
	open, titled := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case minitestHead.MatchString(line):
			open, titled = true, false
		case minitestEnd.MatchString(line):
			open, titled = false, false
		case open && !titled:
			if m := minitestTitle.FindStringSubmatch(line); m != nil {
				r.failures, titled = append(r.failures, failure{name: m[1], file: m[2]}), true
			}
		case titled:
			r.failures[len(r.failures)-1].output += line + "\n"
		}
	}
	return r
}
