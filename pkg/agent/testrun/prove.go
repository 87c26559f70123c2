package testrun

import (
	"cmp"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

// perl detects a distribution of Perl whose tests need no build.
func perl(tree fs.FS, _ string) (Plan, bool, error) {
	plan := Plan{Tool: "prove", Runner: "prove", Argv: []string{"prove", "--lib", "--verbose", "--merge"}}
	for _, name := range []string{"Makefile.PL", "Build.PL", "dist.ini", "cpanfile"} {
		if plan.Source == "" && exists(tree, name) {
			plan.Source = name
		}
	}
	tests, _ := fs.Glob(tree, "t/*.t") // the patterns are well formed
	compiled, _ := fs.Glob(tree, "*.xs")
	return plan, plan.Source != "" && len(tests) > 0 && len(compiled) == 0, nil
}

// onlyProve selects the files that the tests are of.
func onlyProve(p Plan, names []string) (Plan, bool) {
	files := map[string]bool{}
	for _, name := range names {
		file, _, _ := strings.Cut(name, " > ")
		if !strings.HasSuffix(file, ".t") {
			return Plan{}, false
		}
		files[file] = true
	}
	p.Argv = append(p.Argv, slices.Sorted(maps.Keys(files))...)
	return p, true
}

var (
	proveFile  = lazyregexp.New(`(?m)^(\S+\.t) \.{2,} *(?:(skipped: .*|ok|Dubious.*|Failed.*))?$`)
	proveTotal = lazyregexp.New(`(?m)^Result: (?:PASS|FAIL|NOTESTS)$`)
	proveTest  = lazyregexp.New(`^(ok|not ok)\b(?: (\d+))?(?: -)? ?(.*?)(?: ?# (?i:(SKIP|TODO))\b.*)?$`)
	proveEnd   = lazyregexp.New(`^(?:Dubious, |Failed \d+/\d+ subtests|No subtests run|Bailout called|Parse errors:|Test Summary Report)`)
)

// prove parses the output of Perl's prove --verbose --merge. A test is named by its file and
// its description, or its number without one.
func prove(text string) report {
	r := report{counted: proveTotal.MatchString(text) && proveFile.MatchString(text)}
	if !r.counted {
		return r
	}
	all := proveFile.FindAllStringSubmatchIndex(text, -1)
	for i, at := range all {
		file, said := text[at[2]:at[3]], text[at[1]:]
		if i+1 < len(all) {
			said = text[at[1]:all[i+1][0]]
		}
		if at[4] >= 0 && strings.HasPrefix(text[at[4]:at[5]], "skipped") {
			r.skipped++
			r.skip(file)
			continue
		}
		r.proveFile(file, said)
	}
	return r
}

// proveFile adds the tests of one file. A file that ends with a fault and has no failing test
// is one.
func (r *report) proveFile(file, said string) {
	before, broken := len(r.failures), false
	var current *failure
	ran := 0
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\n")
		if proveEnd.MatchString(line) {
			broken = broken || !strings.HasPrefix(line, "Test Summary")
			break
		}
		m := proveTest.FindStringSubmatch(line)
		switch {
		case m != nil && m[2] == "" && m[3] == "": // ok: the file has ended
		case m == nil && current != nil:
			current.output += line + "\n"
		case m == nil:
		default:
			ran++
			current = nil
			switch name := file + " > " + cmp.Or(m[3], m[2]); {
			case m[4] != "":
				r.skipped++
				r.skip(name)
			case m[1] == "ok":
				r.passed++
				r.pass(name)
			default:
				r.failures = append(r.failures, failure{name: name, file: file})
				current = &r.failures[len(r.failures)-1]
			}
		}
	}
	if broken && len(r.failures) == before {
		f := failure{name: file + " > (ends early)", file: file, output: strings.TrimSpace(said)}
		if ran == 0 {
			f.name, f.cause = file, verdict.Compile
		}
		r.failures = append(r.failures, f)
	}
}
