package pipeline

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Types of issues.
const (
	BugFix        = "BUG_FIX"
	NewFeature    = "NEW_FEATURE"
	RefactorStyle = "REFACTOR_STYLE"
)

// signs are words that tell the type of an issue, in its labels or at the
// beginning of its title. The first that fit decide.
var signs = []struct {
	kind          string
	labels, title *lazyregexp.Regexp
}{
	{BugFix, lazyregexp.New(`(?i)\b(bug|defect|regression|crash|fix)\b`),
		lazyregexp.New(`(?i)^\W*(bug|fix(es)?|hotfix|regression)\b`)},
	{RefactorStyle, lazyregexp.New(`(?i)\b(refactor\w*|style|cleanup|clean-up|chore|tech[ -]?debt|formatting|lint)\b`),
		lazyregexp.New(`(?i)^\W*(refactor\w*|style|chore|clean[ -]?up|rename|reformat|tidy|simplify|extract|restructure)\b`)},
	{NewFeature, lazyregexp.New(`(?i)\b(feature|enhancement|request|improvement|proposal)\b`),
		lazyregexp.New(`(?i)^\W*(feat(ure)?|add|support|allow|implement|provide|introduce|please add|enable)\b`)},
}

var (
	broken = lazyregexp.New(`(?i)\b(bug|crash\w*|panic\w*|errors?|fail\w*|wrong\w*|broken|incorrect\w*|regression|exception|does ?n.?t|does not|is ?n.?t|instead of|unexpected\w*|not \w+ing)\b`)
	wanted = lazyregexp.New(`(?i)\b(feature|would be (nice|great|good|useful|helpful)|would like|i'd like|ability to|an option|wish|could you add|we need|i need)\b`)
)

// Type tells the type of an issue by its labels, then by its title, then by its words.
func Type(issue instance.Issue) string {
	labels := strings.Join(issue.Labels, " ")
	for _, s := range signs {
		if s.labels.MatchString(labels) {
			return s.kind
		}
	}
	for _, s := range signs {
		if s.title.MatchString(issue.Title) {
			return s.kind
		}
	}
	text := issue.Title + "\n" + issue.Body
	if len(wanted.FindAllString(text, -1)) > len(broken.FindAllString(text, -1)) {
		return NewFeature
	}
	return BugFix
}

// testType is the test that a change of the type needs, unless an analyst says
// otherwise.
func testType(kind string) string {
	switch kind {
	case BugFix:
		return "regression"
	case RefactorStyle:
		return "existing"
	}
	return "unit"
}

// task is an item of a check list.
var task = lazyregexp.New(`(?m)^\s*[-*] \[[ xX]\] `)

// Size estimates an issue by the length of its report, in words, and of its check list. It
// is SMALL, MEDIUM or LARGE, and simple, moderate or complex.
func Size(issue instance.Issue) (scope, complexity string) {
	words, tasks := len(strings.Fields(issue.Body)), len(task.FindAllString(issue.Body, -1))
	switch {
	case words > 600 || tasks > 10:
		return "LARGE", "complex"
	case words > 200 || tasks > 4:
		return "MEDIUM", "moderate"
	}
	return "SMALL", "simple"
}
