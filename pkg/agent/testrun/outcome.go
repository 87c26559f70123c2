package testrun

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

// maxOutcomeLines limits the lines of output of one failing test in a verdict.Run, and
// maxRunLines those of a whole run.
const (
	maxOutcomeLines = 40
	maxRunLines     = 200
)

// outcomes returns the run test by test. out is the cleaned output.
func outcomes(ev instance.Evidence, r report, out, dir string) verdict.Run {
	run := verdict.Run{
		Commit: ev.Commit, Command: ev.Command, OK: ev.OK, Named: r.counted && r.unnamed == 0,
		Output: strings.Join(clip(withoutEvents(out), maxRunLines), "\n"),
	}
	run.Tests = slices.Clone(r.others)
	for _, f := range r.failures {
		f = f.explain()
		t := verdict.Test{Name: f.name, File: f.file, Outcome: verdict.Fail, Cause: f.cause, Missing: f.missing}
		if f.output != "" {
			t.Output = strings.Join(clip(clean(f.output, dir), maxOutcomeLines), "\n")
		}
		run.Tests = append(run.Tests, t)
	}
	run.Tests = unique(run.Tests)
	return run
}

// unique sorts the tests by name and numbers those that share one. A name may stand for
// several tests, such as equal titles in two files. The tests that pass come first, so that
// one more failing test is seen as one, in whichever file it is.
func unique(tests []verdict.Test) []verdict.Test {
	rank := map[verdict.Outcome]int{verdict.Pass: 0, verdict.Skip: 1, verdict.Fail: 2}
	slices.SortStableFunc(tests, func(a, b verdict.Test) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return rank[a.Outcome] - rank[b.Outcome]
	})
	n := 0
	for i := range tests {
		if i == 0 || tests[i].Name != tests[i-1-n].Name {
			n = 0
			continue
		}
		n++
		tests[i].Name = fmt.Sprintf("%s #%d", tests[i].Name, n+1)
	}
	slices.SortStableFunc(tests, func(a, b verdict.Test) int { return strings.Compare(a.Name, b.Name) })
	return tests
}
