package pipeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// maxOutput is how many bytes of one command's output the document keeps.
const maxOutput = 8 << 10

// build makes the section of the evidence: a brain may doubt a check that passes,
// and add errors, and no more. A failed check goes to the writer. Passed is only what ran: a
// check that is not set up is said to be so, and fails nothing.
func (c completion) build(s Build) {
	b := Build{Completed: true}
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
	// A brain that says of a check that did not run that it did not pass says what is true.
	doubts := func(kind, key string, says bool) bool {
		return c.wrote[key] != nil && !says && (ran[kind] || len(s.Errors) > 0)
	}
	fails := !b.TestsPassed
	for _, check := range []struct {
		kind, key string
		says      bool
		passed    *bool
	}{
		{work.Tests, "tests_passed", s.TestsPassed, &b.TestsPassed},
		{work.Lint, "lint_passed", s.LintPassed, &b.LintPassed},
		{work.TypeCheck, "type_check_passed", s.TypeCheckPassed, &b.TypeCheckPassed},
	} {
		if doubts(check.kind, check.key, check.says) {
			*check.passed, fails = false, true
		}
		fails = fails || ran[check.kind] && !*check.passed
	}
	if c.wrote["errors"] != nil {
		b.Errors = append(b.Errors, s.Errors...)
	}
	if c.success() && fails {
		c.r.Status = instance.Failure
	}
	if !c.success() && len(b.Errors) == 0 {
		b.Errors = append(b.Errors, strings.TrimSpace(c.r.Summary))
	}
	for _, kind := range []string{work.Lint, work.TypeCheck} {
		if !ran[kind] {
			c.r.Summary = strings.TrimSpace(c.r.Summary + "\nNothing is set up as " + strings.ReplaceAll(kind, "_", " ") + ": it did not run, and is not said to have passed.")
		}
	}
	c.put("build", b)
	c.tested()
	if !c.success() {
		review := c.doc.Review
		said := "The build fails.\n\n" + strings.Join(b.Errors, "\n\n")
		review.Completed, review.FeedbackForWriter = false, &said
		c.put("review", review)
	}
}

// tested states whether a required test is missing, for the gate of the lifecycle. A test in
// a file of the product, as of Rust, is found by its name where it ran.
func (c completion) tested() {
	doc := c.doc
	for _, ev := range c.r.Evidence {
		if doc.testMissing() && ev.Name == work.Tests && ev.Judgement != nil {
			doc.Writer.TestWritten = slices.ContainsFunc(ev.Judgement.Tests, func(t verdict.ShownTest) bool { return t.By != "" })
		}
	}
	c.remember("test_missing", strconv.FormatBool(doc.testMissing()))
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
