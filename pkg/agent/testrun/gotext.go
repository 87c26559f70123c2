package testrun

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

var (
	goRun     = lazyregexp.New(`^=== (?:RUN|CONT|NAME) +(\S*)$`)
	goResult  = lazyregexp.New(`^\s*--- (FAIL|PASS|SKIP): (\S+) \([\d.]+s\)$`)
	goPackEnd = lazyregexp.New(`^(ok  |FAIL|\?   )\t(\S+)(?:\t\S|( \[(?:build|setup) failed\])?$)`)
	goRest    = lazyregexp.New(`^(=== |PASS$|FAIL$|exit status )`)
	goBuild   = lazyregexp.New(`^# ([^\s\[]+)(?: \[.*\])?$`)
	goNoBuild = lazyregexp.New(`^(ok  |FAIL|\?   |--- |=== |# \[)`)
)

// goText parses the output of go test without -json, as of a Makefile. Without -v
// go test does not print passing tests; a passing package then counts as one test.
func goText(text string) report {
	var r report
	builds := map[string]string{}
	for _, f := range sections(strings.ReplaceAll(text, "\n# [", "\n["), goBuild, goNoBuild) {
		builds[f.name] = f.output
	}
	said := map[string]string{}        // output by test of the package
	var passed, failed, other []string // the package's tests so far
	current := ""                      // the test that prints
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := goRun.FindStringSubmatch(line); m != nil {
			current = m[1]
		} else if m := goResult.FindStringSubmatch(line); m != nil {
			current = m[2]
			switch m[1] {
			case "FAIL":
				failed = append(failed, current)
			case "PASS":
				passed = append(passed, current)
			default:
				other = append(other, current)
			}
		} else if m := goPackEnd.FindStringSubmatch(line); m != nil {
			pkg, build := m[2], m[3]
			r.counted = true
			switch {
			case m[1] == "FAIL" && len(failed) == 0:
				f := failure{name: pkg + strings.NewReplacer("[", "(", "]", ")", "setup", "build").Replace(build), output: builds[pkg], cause: verdict.Unknown}
				if build != "" {
					f.cause = verdict.Compile
				}
				r.failures = append(r.failures, f)
			case m[1] == "ok  " && len(passed)+len(other) == 0 && !strings.Contains(line, "[no tests to run]"):
				r.passed++
			}
			for _, test := range leaves(failed) {
				r.failures = append(r.failures, failure{name: pkg + "." + test, output: said[test]})
			}
			r.passed += len(leaves(passed))
			r.skipped += len(leaves(other))
			for _, test := range passed {
				r.pass(pkg + "." + test)
			}
			for _, test := range other {
				r.skip(pkg + "." + test)
			}
			said, passed, failed, other, current = map[string]string{}, nil, nil, nil, ""
		} else if current != "" && !goRest.MatchString(line) {
			said[current] += line + "\n"
		}
	}
	return r
}

// leaves returns the tests that have no subtest in the list.
func leaves(tests []string) (kept []string) {
	for i, test := range tests {
		if i+1 == len(tests) || !strings.HasPrefix(tests[i+1], test+"/") {
			kept = append(kept, test)
		}
	}
	return kept
}
