package testrun

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

var (
	specPassed  = lazyregexp.New(`(?m)^ℹ pass (\d+)$`)
	specSkipped = lazyregexp.New(`(?m)^ℹ (?:skipped|todo) (\d+)$`)
	specHead    = lazyregexp.New(`^✖ (.+?) \([\d.]+ms\)$`)
	specEnd     = lazyregexp.New(`^test at (.+):\d+:\d+$`)
	specAt      = lazyregexp.New(`(?m)^test at (.+):\d+:\d+\n✖ (.+?) \([\d.]+ms\)$`)
	specBegins  = lazyregexp.New(`^((?:  )*)▶ (.+?)( \([\d.]+ms\))?$`)
	specResult  = lazyregexp.New(`^((?:  )*)(✔|✖|﹣) (.+?) \([\d.]+ms\)(?: # .*)?$`)

	jestTotal = lazyregexp.New(`(?m)^(?:Tests: +.* total|No tests found, exiting with code \d+)$`)
	jestHead  = lazyregexp.New(`^(  ● .+|FAIL \S+)(?: \([\d.]+ m?s\))?$`)
	jestEnd   = lazyregexp.New(`^(PASS .*|Test Suites: .*|Summary of all failing tests)$`)
	jestFile  = lazyregexp.New(`^(?:PASS|FAIL) (?:\S+ )?(\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?$`)
	jestTest  = lazyregexp.New(`^((?:  )+)([✓✕○✎]) (?:skipped |todo )?(.+?)(?: \([\d.]+ m?s\))?$`)
	jestSuite = lazyregexp.New(`^((?:  )+)(\S.*)$`)

	vitestTotal   = lazyregexp.New(`(?m)^(?: +Tests  .* \(\d+\)| *Test Files  .* \(\d+\)|No test files found, exiting with code \d+)$`)
	vitestTests   = lazyregexp.New(`(?m)^ +Tests  .*?\b(\d+) passed`)
	vitestSkipped = lazyregexp.New(`(?m)^ +Tests  .*?\b(\d+) (?:skipped|todo)\b`)
	vitestHead    = lazyregexp.New(`^ FAIL  (.+)$`)
	vitestEnd     = lazyregexp.New(`^⎯{5,}`)
	vitestTest    = lazyregexp.New(`(?m)^ +([✓↓□]) ((?:\|[^|\n]+\| )?\S+\.[cm]?[jt]sx? > .+?)(?: \d+ms)?(?: \[skipped\])?$`)

	jsSkipped = lazyregexp.New(`\b(\d+) (?:skipped|todo)\b`)
	jsPassed  = lazyregexp.New(`\b(\d+) passed\b`)

	mochaPassed  = lazyregexp.New(`(?m)^  (\d+) passing \([^)]+\)$`)
	mochaPending = lazyregexp.New(`(?m)^  (\d+) pending$`)
	mochaEmpty   = lazyregexp.New(`(?m)^Error: No test files found: "`)
	mochaFailed  = lazyregexp.New(`(?m)^  \d+ failing$`)
	mochaHead    = lazyregexp.New(`^  \d+\) (.+)$`)
	mochaTest    = lazyregexp.New(`^((?:  )+)(✔|✓|-|\d+\)) (.+?)(?: \(\d+ms\))?$`)

	jsFrames = lazyregexp.New(`(?m)^\s+at (?:async )?(?:.* \()?(?:node:|.*node_modules/).*\n?`)
)

// nodeSpec parses the spec reporter of node --test.
func nodeSpec(text string) report {
	var r report
	r.passed, r.counted = sum(text, specPassed)
	r.skipped, _ = sum(text, specSkipped)
	if !r.counted {
		return r
	}
	tree, failing, _ := strings.Cut(text, "\n✖ failing tests:\n")
	r.failures = inner(sections(failing, specHead, specEnd))
	for i, m := range specAt.FindAllStringSubmatch(failing, -1) {
		if i < len(r.failures) && r.failures[i].name == m[2] {
			r.failures[i].file = m[1]
		}
	}
	r.specNames(tree)
	return r
}

// specNames gives the tests the names of the suites around them. The list of failing
// tests has them in the order of the tree.
func (r *report) specNames(tree string) {
	var above []string      // suites and parents that are open
	fails := map[int]bool{} // depth of an open one with a failing test
	next := 0
	for line := range strings.Lines(tree) {
		line = strings.TrimRight(line, "\n")
		if m := specBegins.FindStringSubmatch(line); m != nil && m[3] == "" {
			above = append(above[:min(len(above), len(m[1])/2)], m[2])
			continue
		}
		m := specResult.FindStringSubmatch(line)
		if m == nil {
			if m = specBegins.FindStringSubmatch(line); m == nil { // the end of a suite, in some versions
				continue
			}
			m[2], m[3] = "▶", m[2]
		}
		depth := len(m[1]) / 2
		above = above[:min(len(above), depth+1)]
		parent := len(above) == depth+1 && above[depth] == m[3]
		name := strings.Join(append(slices.Clone(above[:min(len(above), depth)]), m[3]), " > ")
		above = above[:min(len(above), depth)]
		switch {
		case parent && fails[depth+1]: // a suite, or a parent, of one that failed
			fails[depth] = true
		case m[2] == "✖":
			fails[depth] = true
			for i := next; i < len(r.failures); i++ {
				if r.failures[i].name == m[3] {
					r.failures[i].name, next = name, i+1
					break
				}
			}
		case m[2] == "✔" && strings.HasSuffix(line, "# TODO"), m[2] == "﹣":
			r.skip(name)
		case m[2] == "✔":
			r.pass(name)
		}
		if parent {
			delete(fails, depth+1)
		}
	}
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
			file = strings.TrimPrefix(name, "./")
			continue
		}
		f.file = file
		if f.name = strings.TrimPrefix(f.name, "  ● "); f.name == "Test suite failed to run" {
			f.name, f.cause = file+" (suite failed to run)", verdict.Compile
		} else if file != "" {
			f.name = file + " › " + f.name
		}
		if !seen[f.name] {
			r.failures = append(r.failures, f)
		}
		seen[f.name] = true
	}
	r.jestNames(text)
	return r
}

// jestNames adds the tests that did not fail. Jest names them with --verbose, or where it
// runs one file.
func (r *report) jestNames(text string) {
	file, open := "", false
	var above []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := jestFile.FindStringSubmatch(line); m != nil {
			file, open, above = strings.TrimPrefix(m[1], "./"), true, nil
			continue
		}
		if !open || strings.HasPrefix(line, "  ● ") {
			open = false
			continue
		}
		if m := jestTest.FindStringSubmatch(line); m != nil {
			above = above[:min(len(above), len(m[1])/2-1)]
			name := strings.Join(append([]string{file}, append(slices.Clone(above), m[3])...), " › ")
			switch m[2] {
			case "✓":
				r.pass(name)
			case "○", "✎":
				r.skip(name)
			}
		} else if m := jestSuite.FindStringSubmatch(line); m != nil {
			above = append(above[:min(len(above), len(m[1])/2-1)], m[2])
		}
	}
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
	for i, f := range r.failures {
		file, _, test := strings.Cut(f.name, " > ")
		if r.failures[i].file, _, _ = strings.Cut(file, " "); !test {
			r.failures[i].cause = verdict.Compile
		}
	}
	for _, m := range vitestTest.FindAllStringSubmatch(text, -1) {
		if m[1] == "✓" {
			r.pass(m[2])
		} else {
			r.skip(m[2])
		}
	}
	return r
}

// mocha parses mocha's spec reporter. Its failures have a title of several lines
// that ends with a colon.
func mocha(text string) report {
	var r report
	r.passed, r.counted = sum(text, mochaPassed)
	r.skipped, _ = sum(text, mochaPending)
	r.counted = r.counted || mochaEmpty.MatchString(text)
	if !r.counted {
		return r
	}
	tree := text
	if at := mochaPassed.FindStringIndex(text); at != nil {
		tree = text[:at[0]]
	}
	r.mochaNames(tree)
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

// mochaNames adds the tests that did not fail, of the tree before the totals.
func (r *report) mochaNames(tree string) {
	var above []string
	for line := range strings.Lines(tree) {
		line = strings.TrimRight(line, "\n")
		if m := mochaTest.FindStringSubmatch(line); m != nil {
			above = above[:min(len(above), len(m[1])/2-1)]
			name := strings.Join(append(slices.Clone(above), m[3]), " > ")
			switch m[2] {
			case "✔", "✓":
				r.pass(name)
			case "-":
				r.skip(name)
			}
		} else if m := jestSuite.FindStringSubmatch(line); m != nil {
			above = append(above[:min(len(above), len(m[1])/2-1)], m[2])
		}
	}
}

// inner drops the stack frames of node and of libraries.
func inner(failures []failure) []failure {
	for i := range failures {
		failures[i].output = strings.TrimRight(jsFrames.ReplaceAllString(failures[i].output+"\n", ""), "\n ")
	}
	return failures
}
