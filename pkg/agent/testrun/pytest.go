package testrun

import (
	"regexp"
	"strings"
)

var (
	pytestTotal   = regexp.MustCompile(`(?m)^(?:=+ )?(?:no tests ran|(?:\d+ [a-z]+, )*\d+ (?:failed|passed|skipped|errors?|xfailed|xpassed|deselected|warnings?)) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$`)
	pytestPassed  = regexp.MustCompile(`\b(\d+) passed\b`)
	pytestSkipped = regexp.MustCompile(`\b(\d+) (?:skipped|xfailed|deselected)\b`)
	pytestFailed  = regexp.MustCompile(`(?m)^(?:FAILED|ERROR) ([^\s\[]+(?:\[.*?\])?)(?: - .*)?$`)
	pytestHead    = regexp.MustCompile(`^_{3,} (.+?) _{3,}$`)
	pytestEnd     = regexp.MustCompile(`^(={3,} .* ={3,}|!{3,} .* !{3,}|(FAILED|ERROR) \S+::.*)$`)
)

// pytest parses the summary and the sections of the failing tests.
func pytest(text string) report {
	totals := pytestTotal.FindAllString(text, -1)
	if totals == nil {
		return report{}
	}
	r := report{counted: true}
	r.passed, _ = sum(strings.Join(totals, "\n"), pytestPassed)
	r.skipped, _ = sum(strings.Join(totals, "\n"), pytestSkipped)
	said := sections(text, pytestHead, pytestEnd)
	for _, m := range pytestFailed.FindAllStringSubmatch(text, -1) {
		f := failure{name: m[1]}
		// a/test_b.py::TestC::test_d has the title TestC.test_d.
		file, title, isTest := strings.Cut(m[1], "::")
		if title = strings.ReplaceAll(title, "::", "."); !isTest {
			title = "ERROR collecting " + file
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
		r.failures = append(r.failures, f)
	}
	return r
}
