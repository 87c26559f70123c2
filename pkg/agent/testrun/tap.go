package testrun

import (
	"regexp"
	"strings"
)

var (
	tapHead = regexp.MustCompile(`(?m)^(TAP version \d+|1\.\.\d+)$`)
	tapLine = regexp.MustCompile(`^((?:    )*)(ok|not ok)\b(?: \d+)?(?: -)? ?(.*?)(?: # (?i:(SKIP|TODO))\b.*)?$`)
	tapDrop = regexp.MustCompile(`duration_ms:|\(node:internal|\(node:async_hooks|type: 'test'`)
)

// tapTest is a result line, which counts as one test or as its subtests.
type tapTest struct {
	passed   int
	skipped  int
	failures []failure
}

// tap parses the Test Anything Protocol. A parent's line comes after its subtests,
// and only they are counted.
func tap(text string) report {
	if !tapHead.MatchString(text) {
		return report{}
	}
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
			levels[depth] = append(levels[depth], tapResult(m[2] == "ok", m[3], m[4] != "", levels[depth+1]))
			levels = levels[:depth+1]
		case line == indent+"  ---":
			block = new(strings.Builder)
		}
	}
	r := report{counted: true}
	for _, t := range levels[0] {
		r = r.add(report{true, t.passed, t.failures, t.skipped})
	}
	return r
}

func tapResult(ok bool, name string, directive bool, subtests []tapTest) tapTest {
	var t tapTest
	for _, s := range subtests {
		t.passed += s.passed
		t.skipped += s.skipped
		for _, f := range s.failures {
			t.failures = append(t.failures, failure{name + " > " + f.name, f.output})
		}
	}
	switch {
	case directive: // skipped, or known not to work yet
		return tapTest{skipped: 1}
	case !ok && len(t.failures) == 0:
		t.failures = []failure{{name: name}}
	case ok && len(subtests) == 0:
		t.passed = 1
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
	}
}
