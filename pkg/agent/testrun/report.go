package testrun

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

// Limits of the output kept. They count lines, not bytes, so that the width of a
// timing does not change which part is left out.
const (
	maxLines     = 200 // of all failures together
	maxTestLines = 60  // of one failure
	maxLine      = 240 // characters
	maxNames     = 500 // failing tests named
)

// escapes matches the control sequences of terminals: colours and cursor moves (CSI),
// titles and links (OSC), and the two-character ones.
var escapes = lazyregexp.New("\x1b(?:\\[[0-9;:<=>?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[()][0-9A-Za-z]|[=>78cDEHMNOZ])")

// report is the result of a parser of test output.
type report struct {
	counted  bool // a tool was recognised: passed is a count, not a guess
	passed   int
	failures []failure
	skipped  int
	others   []verdict.Test // tests that passed or were skipped, as far as the tool names them
	unnamed  int            // tests that passed and have no name
}

// failure is one failing test and its output.
type failure struct {
	name    string
	output  string
	file    string        // empty if the tool does not print it
	cause   verdict.Cause // empty: the output decides
	missing string        // the undefined name, if the parser knows it
}

func (r report) add(o report) report {
	return report{
		r.counted || o.counted, r.passed + o.passed, append(r.failures, o.failures...), r.skipped + o.skipped,
		append(r.others, o.others...), r.unnamed + o.unnamed,
	}
}

// pass adds a test that passed, with its name.
func (r *report) pass(name string) {
	r.others = append(r.others, verdict.Test{Name: name, Outcome: verdict.Pass})
}

// skip adds a test that was skipped, with its name.
func (r *report) skip(name string) {
	r.others = append(r.others, verdict.Test{Name: name, Outcome: verdict.Skip})
}

// sealed returns the report with its count of unnamed tests.
func (r report) sealed() report {
	named := 0
	for _, t := range r.others {
		if t.Outcome == verdict.Pass {
			named++
		}
	}
	r.unnamed = max(0, r.passed-named)
	return r
}

// names returns the failing tests, sorted, each once, up to maxNames.
func (r report) names() []string {
	var names []string
	for _, f := range r.failures {
		names = append(names, f.name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxNames)]
}

// text returns the relevant part of the output: that of the failing tests, or else
// the end of all.
func (r report) text(all string) string {
	failures := slices.Clone(r.failures)
	slices.SortStableFunc(failures, func(a, b failure) int { return cmp.Compare(a.name, b.name) })
	failures = slices.Compact(failures)
	var out []string
	said := false
	for i, f := range failures {
		if len(out) >= maxLines {
			out = append(out, fmt.Sprintf("… and %d more failing tests", len(failures)-i))
			break
		}
		out = append(out, "--- FAIL: "+f.name)
		if f.output != "" {
			said = true
			out = append(out, clip(f.output, maxTestLines)...)
		}
	}
	if !said {
		out = append(out, clip(all, maxTestLines)...)
	}
	return strings.Join(out, "\n")
}

// clip returns at most max lines: the first quarter and the last three quarters.
func clip(s string, max int) []string {
	all := strings.Split(strings.Trim(s, "\n"), "\n")
	if left := len(all) - max; left > 0 {
		head := max / 4
		all = slices.Concat(all[:head], []string{fmt.Sprintf("… %d lines left out", left)}, all[len(all)-max+head:])
	}
	for i, line := range all {
		if runes := []rune(line); len(runes) > maxLine {
			line = string(runes[:maxLine]) + " …"
		}
		all[i] = strings.TrimRight(line, " \t")
	}
	return all
}
