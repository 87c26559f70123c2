package testrun

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

var (
	tapHead     = lazyregexp.New(`(?m)^(TAP version \d+|1\.\.\d+)$`)
	tapLine     = lazyregexp.New(`^((?:    )*)(ok|not ok)\b(?: \d+)?(?: -)? ?(.*?)(?: # (?i:(SKIP|TODO))\b.*)?$`)
	tapSubtest  = lazyregexp.New(`(?m)^ *# Subtest: `)
	tapTitle    = lazyregexp.New(`^# \S`) // tape prints one before the assertions of each test
	tapPlan     = lazyregexp.New(`(?m)^1\.\.(\d+)$`)
	tapBail     = lazyregexp.New(`(?m)^Bail out!(.*)$`)
	tapLocation = lazyregexp.New(`(?m)^location: '(.+):\d+:\d+'$`)
	tapDrop     = lazyregexp.New(`duration_ms:|\(node:internal|\(node:async_hooks|type: 'test'`)
)

// tapTest is a result line, which counts as one test or as its subtests.
type tapTest struct {
	passed   []string // names
	skipped  []string
	failures []failure
}

// tap parses the Test Anything Protocol. A parent's line comes after its subtests,
// and only they are counted.
func tap(text string) report {
	if !tapHead.MatchString(text) || prove(text).counted {
		return report{}
	}
	titled := strings.HasPrefix(tapHead.FindString(text), "TAP version") && !tapSubtest.MatchString(text)
	title := ""
	levels := [][]tapTest{nil} // finished tests by depth, whose parent is yet to come
	var block *strings.Builder // the diagnostics being read
	var indent string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch m := tapLine.FindStringSubmatch(line); {
		case block != nil && line == indent+"  ...":
			last(levels).say(block.String())
			block = nil
		case block != nil:
			if !tapDrop.MatchString(line) {
				block.WriteString(strings.TrimPrefix(line, indent+"  ") + "\n")
			}
		case m != nil:
			indent = m[1]
			depth := len(indent) / 4
			for len(levels) <= depth+1 {
				levels = append(levels, nil)
			}
			name := m[3]
			if title != "" && depth == 0 {
				name = strings.TrimSuffix(title+" > "+name, " > ")
			}
			levels[depth] = append(levels[depth], tapResult(m[2] == "ok", name, m[4] != "", levels[depth+1]))
			levels = levels[:depth+1]
		case line == indent+"  ---":
			block = new(strings.Builder)
		case titled && tapTitle.MatchString(line):
			title = line[2:]
		}
	}
	r := report{counted: true}
	for _, t := range levels[0] {
		r.passed, r.skipped, r.failures = r.passed+len(t.passed), r.skipped+len(t.skipped), append(r.failures, t.failures...)
		for _, name := range t.passed {
			r.pass(name)
		}
		for _, name := range t.skipped {
			r.skip(name)
		}
	}
	if m := tapBail.FindStringSubmatch(text); m != nil {
		r.failures = append(r.failures, failure{name: "Bail out!", output: m[1], cause: verdict.Unknown})
	}
	if m := tapPlan.FindStringSubmatch(text); m != nil && len(r.failures) == 0 {
		if want, err := strconv.Atoi(m[1]); err == nil && want > len(levels[0]) && tapWhole(text) {
			r.failures = append(r.failures, failure{
				name: "the plan of the tests", output: fmt.Sprintf("%d of %d planned tests ran", len(levels[0]), want), cause: verdict.Unknown,
			})
		}
	}
	return r
}

// tapWhole reports whether the output has one plan only. With several, of several
// programs, the tests of each cannot be counted apart.
func tapWhole(text string) bool { return len(tapPlan.FindAllString(text, 2)) == 1 }

func tapResult(ok bool, name string, directive bool, subtests []tapTest) tapTest {
	var t tapTest
	for _, s := range subtests {
		for _, sub := range s.passed {
			t.passed = append(t.passed, name+" > "+sub)
		}
		for _, sub := range s.skipped {
			t.skipped = append(t.skipped, name+" > "+sub)
		}
		for _, f := range s.failures {
			f.name = name + " > " + f.name
			t.failures = append(t.failures, f)
		}
	}
	switch {
	case directive: // skipped, or known not to work yet
		return tapTest{skipped: []string{name}}
	case !ok && len(t.failures) == 0:
		t.failures = []failure{{name: name}}
	case ok && len(subtests) == 0:
		t.passed = []string{name}
	}
	return t
}

// last returns the newest result, to which the next diagnostics belong.
func last(levels [][]tapTest) *tapTest {
	deepest := levels[len(levels)-1]
	if len(deepest) == 0 {
		return &tapTest{}
	}
	return &deepest[len(deepest)-1]
}

// say adds diagnostics to a test. Those of a parent are ignored.
func (t *tapTest) say(output string) {
	if len(t.failures) == 1 && t.failures[0].output == "" {
		t.failures[0].output = output
		if m := tapLocation.FindStringSubmatch(output); m != nil {
			t.failures[0].file = m[1]
		}
	}
}
