package testrun

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

var (
	pytestTotal   = lazyregexp.New(`(?m)^(?:=+ )?(?:no tests ran|(?:\d+ [a-z]+, )*\d+ (?:failed|passed|skipped|errors?|xfailed|xpassed|deselected|warnings?)) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$`)
	pytestPassed  = lazyregexp.New(`\b(\d+) passed\b`)
	pytestSkipped = lazyregexp.New(`\b(\d+) (?:skipped|xfailed|deselected)\b`)
	pytestFailed  = lazyregexp.New(`(?m)^(?:FAILED|ERROR) ([^\s\[]+(?:\[.*?\])?)(?: - .*)?$`)
	pytestHead    = lazyregexp.New(`^_{3,} (.+?) _{3,}$`)
	pytestEnd     = lazyregexp.New(`^(={3,} .* ={3,}|!{3,} .* !{3,}|(FAILED|ERROR|PASSED) \S+::.*)$`)

	// The lines of -v, of -v under xdist, and of -rp.
	pytestVerbose  = lazyregexp.New(`(?m)^([^\s:]+::.+?) (PASSED|SKIPPED|XFAIL|XPASS)(?: \(.*\))?(?: +\[ *\d+%\])?$`)
	pytestParallel = lazyregexp.New(`(?m)^\[gw\d+\] \[ *\d+%\] (PASSED|SKIPPED|XFAIL|XPASS) ([^\s:]+::.+?) *$`)
	pytestNamed    = lazyregexp.New(`(?m)^(PASSED|XPASS|XFAIL) ([^\s\[:]+::[^\s\[]+(?:\[.*?\])?)(?: - .*)?$`)
)

// pytest parses the summary, the sections of the failing tests and, where pytest names
// them, the passing and skipped ones.
func pytest(text string) report {
	totals := pytestTotal.FindAllString(text, -1)
	if totals == nil {
		return report{}
	}
	r := report{counted: true}
	r.passed, _ = sum(strings.Join(totals, "\n"), pytestPassed)
	r.skipped, _ = sum(strings.Join(totals, "\n"), pytestSkipped)
	said := sections(text, pytestHead, pytestEnd)
	failed := map[string]bool{}
	for _, m := range pytestFailed.FindAllStringSubmatch(text, -1) {
		f := failure{name: m[1]}
		// a/test_b.py::TestC::test_d has the title TestC.test_d.
		file, title, isTest := strings.Cut(m[1], "::")
		f.file = file
		if title = strings.ReplaceAll(title, "::", "."); !isTest {
			title, f.cause = "ERROR collecting "+file, verdict.Compile
		}
		for i := range said {
			switch said[i].name {
			case title, "ERROR at setup of " + title, "ERROR at teardown of " + title:
				f.output, said[i].name = said[i].output, "" // each is taken once
			default:
				continue
			}
			break
		}
		failed[f.name] = true
		r.failures = append(r.failures, f)
	}
	r.pytestNames(text, failed)
	return r
}

// pytestNames adds the tests that did not fail, each once.
func (r *report) pytestNames(text string, failed map[string]bool) {
	seen := failed
	add := func(name, outcome string) {
		if seen[name] {
			return
		}
		seen[name] = true
		if outcome == "PASSED" || outcome == "XPASS" {
			r.pass(name)
		} else {
			r.skip(name)
		}
	}
	for _, m := range pytestVerbose.FindAllStringSubmatch(text, -1) {
		add(m[1], m[2])
	}
	for _, re := range []*lazyregexp.Regexp{pytestParallel, pytestNamed} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			add(m[2], m[1])
		}
	}
}
