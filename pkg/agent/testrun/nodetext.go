package testrun

import (
	"regexp"
	"strings"
)

var (
	specPassed  = regexp.MustCompile(`(?m)^ℹ pass (\d+)$`)
	specSkipped = regexp.MustCompile(`(?m)^ℹ (?:skipped|todo) (\d+)$`)
	specHead    = regexp.MustCompile(`^✖ (.+?) \([\d.]+ms\)$`)
	specEnd     = regexp.MustCompile(`^test at .+:\d+:\d+$`)

	jestTotal = regexp.MustCompile(`(?m)^(?:Tests: +.* total|No tests found, exiting with code \d+)$`)
	jestHead  = regexp.MustCompile(`^(  ● .+|FAIL \S+)(?: \([\d.]+ m?s\))?$`)
	jestEnd   = regexp.MustCompile(`^(PASS .*|Test Suites: .*|Summary of all failing tests)$`)

	vitestTotal   = regexp.MustCompile(`(?m)^(?: +Tests  .* \(\d+\)| *Test Files  .* \(\d+\)|No test files found, exiting with code \d+)$`)
	vitestTests   = regexp.MustCompile(`(?m)^ +Tests  .*?\b(\d+) passed`)
	vitestSkipped = regexp.MustCompile(`(?m)^ +Tests  .*?\b(\d+) (?:skipped|todo)\b`)
	vitestHead    = regexp.MustCompile(`^ FAIL  (.+)$`)
	vitestEnd     = regexp.MustCompile(`^⎯{5,}`)

	jsSkipped = regexp.MustCompile(`\b(\d+) (?:skipped|todo)\b`)
	jsPassed  = regexp.MustCompile(`\b(\d+) passed\b`)

	mochaPassed  = regexp.MustCompile(`(?m)^  (\d+) passing \([^)]+\)$`)
	mochaPending = regexp.MustCompile(`(?m)^  (\d+) pending$`)
	mochaEmpty   = regexp.MustCompile(`(?m)^Error: No test files found: "`)
	mochaFailed  = regexp.MustCompile(`(?m)^  \d+ failing$`)
	mochaHead    = regexp.MustCompile(`^  \d+\) (.+)$`)

	jsFrames = regexp.MustCompile(`(?m)^\s+at (?:async )?(?:.* \()?(?:node:|.*node_modules/).*\n?`)
)

// nodeSpec parses the spec reporter of node --test.
func nodeSpec(text string) report {
	var r report
	r.passed, r.counted = sum(text, specPassed)
	r.skipped, _ = sum(text, specSkipped)
	_, failing, _ := strings.Cut(text, "\n✖ failing tests:\n")
	r.failures = inner(sections(failing, specHead, specEnd))
	return r
}

// jest parses jest's summary and its failures, which it may print twice.
func jest(text string) report {
	totals := jestTotal.FindAllString(text, -1)
	if totals == nil {
		return report{}
	}
	r := report{counted: true}
	r.passed, _ = sum(strings.Join(totals, "\n"), jsPassed)
	r.skipped, _ = sum(strings.Join(totals, "\n"), jsSkipped)
	file, seen := "", map[string]bool{}
	for _, f := range inner(sections(text, jestHead, jestEnd)) {
		if name, isFile := strings.CutPrefix(f.name, "FAIL "); isFile {
			file = name
			continue
		}
		if f.name = strings.TrimPrefix(f.name, "  ● "); f.name == "Test suite failed to run" {
			f.name = file + " (suite failed to run)"
		}
		if !seen[f.name] {
			r.failures = append(r.failures, f)
		}
		seen[f.name] = true
	}
	return r
}

// vitest parses vitest's summary and failures.
func vitest(text string) report {
	if !vitestTotal.MatchString(text) {
		return report{}
	}
	r := report{counted: true}
	r.passed, _ = sum(text, vitestTests)
	r.skipped, _ = sum(text, vitestSkipped)
	r.failures = inner(sections(text, vitestHead, vitestEnd))
	return r
}

// mocha parses mocha's spec reporter. Its failures have a title of several lines
// that ends with a colon.
func mocha(text string) report {
	var r report
	r.passed, r.counted = sum(text, mochaPassed)
	r.skipped, _ = sum(text, mochaPending)
	r.counted = r.counted || mochaEmpty.MatchString(text)
	at := mochaFailed.FindStringIndex(text)
	if at == nil {
		return r
	}
	for _, f := range inner(sections(text[at[1]:], mochaHead, mochaFailed)) {
		for {
			title, rest, _ := strings.Cut(f.output, "\n")
			if strings.HasSuffix(f.name, ":") || strings.TrimSpace(title) == "" {
				break
			}
			f.name, f.output = f.name+" > "+strings.TrimSpace(title), rest
		}
		f.name = strings.TrimSuffix(f.name, ":")
		f.output = strings.Trim(f.output, "\n")
		r.failures = append(r.failures, f)
	}
	return r
}

// inner drops the stack frames of node and of libraries.
func inner(failures []failure) []failure {
	for i := range failures {
		failures[i].output = strings.TrimRight(jsFrames.ReplaceAllString(failures[i].output+"\n", ""), "\n ")
	}
	return failures
}
