package testrun

import (
	"regexp"
	"strings"
)

var (
	unittestRan     = regexp.MustCompile(`(?m)^Ran (\d+) tests? in [\d.]+s$`)
	unittestSkipped = regexp.MustCompile(`(?m)^(?:OK|FAILED) \(.*\b(?:skipped|expected failures)=(\d+)`)
	unittestHead    = regexp.MustCompile(`^(?:ERROR|FAIL): (\S+ \(\S+\).*|setUp\S+ \(\S+\))$`)
	unittestEnd     = regexp.MustCompile(`^(={70}|Ran \d+ tests? in .*)$`)
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
		if !strings.HasSuffix(in, "."+test) { // before Python 3.11 the class alone
			in += "." + test
		}
		tests[in] = true
		f.name, f.output = in+sub, strings.ReplaceAll(f.output, strings.Repeat("-", 70), "")
		r.failures = append(r.failures, f)
	}
	skipped, _ := sum(text, unittestSkipped)
	r.passed = max(0, ran-skipped-len(tests))
	r.skipped = skipped
	return r
}
