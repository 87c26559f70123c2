package pipeline

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/work"
)

// maxOutput is how many bytes of one command's output the document keeps.
const maxOutput = 8 << 10

// build makes the section of the evidence: a brain may doubt a check that passes,
// and add errors, and no more. What fails goes to the writer.
func (c completion) build(s Build) {
	b := Build{Completed: true, LintPassed: true, TypeCheckPassed: true}
	ran := map[string]bool{}
	for _, ev := range c.r.Evidence {
		switch ev.Name {
		case work.Tests:
			b.TestsPassed = ev.OK
		case work.Lint:
			b.LintPassed = ev.OK
		case work.TypeCheck:
			b.TypeCheckPassed = ev.OK
		default:
			continue
		}
		ran[ev.Name] = true
		b.run(ev)
	}
	doubts := func(key string, says bool) bool { return c.wrote[key] != nil && !says }
	b.TestsPassed = b.TestsPassed && !doubts("tests_passed", s.TestsPassed)
	b.LintPassed = b.LintPassed && !doubts("lint_passed", s.LintPassed)
	b.TypeCheckPassed = b.TypeCheckPassed && !doubts("type_check_passed", s.TypeCheckPassed)
	if c.wrote["errors"] != nil {
		b.Errors = append(b.Errors, s.Errors...)
	}
	if c.success() && !(b.TestsPassed && b.LintPassed && b.TypeCheckPassed) {
		c.r.Status = instance.Failure
	}
	if !c.success() && len(b.Errors) == 0 {
		b.Errors = append(b.Errors, strings.TrimSpace(c.r.Summary))
	}
	for _, kind := range []string{work.Lint, work.TypeCheck} {
		if !ran[kind] {
			c.r.Summary = strings.TrimSpace(c.r.Summary + "\nNothing is set up as " + strings.ReplaceAll(kind, "_", " ") + ": it counts as passed.")
		}
	}
	c.put("build", b)
	if !c.success() {
		review := c.doc.Review
		said := "The build fails.\n\n" + strings.Join(b.Errors, "\n\n")
		review.Completed, review.FeedbackForWriter = false, &said
		c.put("review", review)
	}
}

// run records one command.
func (b *Build) run(ev instance.Evidence) {
	if ev.Command != "" {
		b.CommandsRun = append(b.CommandsRun, Command{ev.Command, ev.ExitCode, clip(printed(ev))})
	}
	if ev.OK {
		return
	}
	what := ev.Command
	if what == "" {
		what = ev.Name
	}
	if len(ev.Failed) > 0 {
		what += ": " + strings.Join(ev.Failed, ", ")
	}
	b.Errors = append(b.Errors, clip(strings.TrimSpace(what+"\n"+ev.Output)))
}

// printed is what the document keeps of a command's output: of one that passes
// only the count is kept.
func printed(ev instance.Evidence) string {
	if ev.Output == "" && ev.OK && ev.Passed > 0 {
		return fmt.Sprintf("%d passed", ev.Passed)
	}
	return ev.Output
}

// clip keeps the end of a text.
func clip(s string) string {
	if over := len(s) - maxOutput; over > 0 {
		s = fmt.Sprintf("[… %d bytes left out …]\n", over) + strings.ToValidUTF8(s[over:], "")
	}
	return s
}
