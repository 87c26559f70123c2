package rules

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/git"
)

// Navigator reviews a change by what can be seen without understanding it. That is its
// size, what was left in it, and whether it touches what the issue does not speak of. It
// approves with no issues found.
//
// The policy review_max_lines bounds the lines changed; 800 unless set.
type Navigator struct{}

// approval is how sure the navigator is of a change it finds nothing in.
const approval = 0.9

// maxPatch is how many bytes of a diff are read.
const maxPatch = 8 << 20

// Work implements brain.Brain.
func (Navigator) Work(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
	if a.Question != nil {
		return CannotAnswer(a), nil
	}
	if a.Dir == "" || a.Base == "" {
		return declared(instance.Result{Status: instance.Blocked, Summary: "There is no code to review."}), nil
	}
	head := a.Head
	if head == "" {
		head = "HEAD"
	}
	diff, err := git.New(a.Dir).Output(ctx, maxPatch,
		"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-prefix", "--find-renames", a.Base, head, "--")
	if err != nil {
		return brain.Outcome{}, fmt.Errorf("read the change from %s to %s: %w", a.Base, head, err)
	}
	return declared(review(a, patch(string(diff)))), nil
}

func review(a brain.Assignment, files []file) instance.Result {
	var found []string
	lines, tests := 0, false
	for _, f := range files {
		lines += f.size()
		tests = tests || f.isTest()
		found = append(found, look(f, a.Issue)...)
	}
	if len(files) == 0 {
		found = append(found, "nothing was changed")
	}
	if most := int(Number(a, "review_max_lines", 800)); lines > most {
		found = append(found, fmt.Sprintf("%d lines changed are more than %d: too much to review at once", lines, most))
	}
	r := instance.Result{
		Status: instance.Success, ConfidenceScore: approval, IssuesFound: found,
		Summary: fmt.Sprintf("Files changed: %d, lines: %d", len(files), lines),
	}
	if !tests {
		r.Summary += ", no tests among them"
	}
	if len(found) == 0 {
		r.Summary += ". Nothing found."
		return r
	}
	r.Status, r.ConfidenceScore = instance.Failure, 0
	r.Summary += ". Found: " + Sentence(strings.Join(found, "; "))
	return r
}

var (
	conflict = lazyregexp.New(`^(<{7}|>{7}|\|{7})( |$)|^={7}$`)
	// Spelled so that this file does not match itself.
	leftover = lazyregexp.New(`\b(TO[D]O|FIX[M]E|X{3})\b|\bpdb\.set_trace\(|\bbreakpoint\(\)|^\s*debugger;?\s*$|\bbinding\.pry\b|\bdbg!\(|\bspew\.Dump\(|\b(t|describe|it|test)\.only\(`)
	// Files that decide how the repository is built, tested or guarded.
	steering = lazyregexp.New(`^(\.signalbox\.yaml|\.github/.*|\.gitlab-ci\.yml|\.circleci/.*|\.gitattributes|\.gitmodules|CODEOWNERS)$`)
	byOthers = lazyregexp.New(`(^|/)(node_modules|vendor|__pycache__|dist|target)/`)
)

// Generated reports whether a file is generated or third-party, by its path.
func Generated(name string) bool { return byOthers.MatchString(name) }

// look reviews one file.
func look(f file, issue instance.Issue) (found []string) {
	spoken := strings.Contains(issue.Title+"\n"+issue.Body, path.Base(f.name))
	switch {
	case steering.MatchString(f.name) && !spoken:
		found = append(found, f.name+" steers builds and checks, and the issue does not speak of it")
	case Generated(f.name) && !spoken:
		found = append(found, f.name+" is generated or third-party code")
	case f.binary && !f.isTest() && !spoken:
		found = append(found, f.name+" is binary, and the issue does not speak of it")
	}
	for _, line := range f.added {
		if conflict.MatchString(line) {
			return append(found, f.name+" has conflict markers")
		}
		if m := leftover.FindString(line); m != "" && !strings.HasSuffix(f.name, ".md") {
			return append(found, fmt.Sprintf("%s has a leftover %s", f.name, strings.TrimSpace(m)))
		}
	}
	return found
}
