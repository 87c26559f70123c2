package rules

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Limits on what comments repeat of what others wrote.
const (
	maxQuote   = 30  // lines
	maxExcerpt = 600 // characters
	maxShown   = 20  // entries of a list
)

//go:embed text/*.md
var files embed.FS

// write fills the template of that name.
func write(name string, data any) string {
	text, err := files.ReadFile("text/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return Fill(name, string(text), data)
}

// Fill fills a template with the functions that make texts of others harmless. It
// panics on one that fails: templates are part of the program.
func Fill(name, text string, data any) string {
	t := template.Must(template.New(name).Funcs(template.FuncMap{
		"numbered": numbered, "quote": quote, "code": code, "verbatim": sanitize.Verbatim, "short": short, "tested": tested, "proven": proven,
		"line": sanitize.MarkdownLine, "moment": Moment,
		"fold": func(title string) string { return foldFrom + title }, "unfold": func() string { return foldTo },
		"excerpt":  func(s string) string { return sanitize.MarkdownLine(excerpt(s)) },
		"sentence": func(s string) string { return sanitize.MarkdownLine(Sentence(s)) },
	}).Parse(text))
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		panic(err)
	}
	return strings.TrimSpace(blankLines.ReplaceAllString(out.String(), "\n\n")) + "\n"
}

var blankLines = lazyregexp.New(`\n{3,}`)

// proven is whether a test shows the work to be right: the first line of how it was tested.
func proven(p instance.Proof) string {
	switch {
	case p.Shown:
		var lines []string
		for _, t := range p.Judgement.Tests[:min(len(p.Judgement.Tests), maxShownTests)] {
			lines = append(lines, fmt.Sprintf("%s failed on %s and passes now%s.", code(t.Name), code(short(t.Base)), wrote(t.By)))
		}
		if more := len(p.Judgement.Tests) - maxShownTests; more > 0 {
			lines = append(lines, fmt.Sprintf("%d more tests did so, too.", more))
		}
		return strings.Join(lines, "\n")
	case p.Unproven() && p.Waived != "":
		return "**Unproven:** " + sanitize.MarkdownLine(Sentence(p.Reason)) + " " + code(p.Waived) + " accepted that."
	case p.Unproven():
		return "**Unproven:** " + sanitize.MarkdownLine(Sentence(p.Reason))
	}
	return ""
}

// maxShownTests is how many tests the text of a pull request says this of.
const maxShownTests = 5

func wrote(by string) string {
	if by == "" {
		return "; the test was there before"
	}
	return ", written by the " + code(by)
}

// compared lists what the comparison with the base found, for people, a line each.
func compared(j verdict.Judgement) (lines []string) {
	add := func(n verdict.Names, format string) {
		if n.Len() > 0 {
			lines = append(lines, fmt.Sprintf(format, n.Len(), namesOf(n)))
		}
	}
	add(j.BaseFailures, "%d failed before the change and still fail, which is not held against it: %s")
	add(j.MadeFlaky, "%d are made flaky by the change: %s")
	for _, f := range j.Flaky {
		lines = append(lines, "flaky, and not held against the change: "+code(f.Name))
	}
	for _, a := range j.Accepted {
		lines = append(lines, code(a.Name)+" no longer holds; "+code(a.By)+" accepted that")
	}
	for _, r := range j.Renamed {
		lines = append(lines, code(r.From)+" is now "+code(r.To))
	}
	if w := j.Ways; w != nil {
		lines = append(lines, fmt.Sprintf("the change touches files that decide how it is tested: %s. With these as before: %s. With all its files: %s",
			namesOf(w.Files), code(w.Aside), code(w.Changed)))
	}
	return lines
}

func namesOf(n verdict.Names) string {
	var all []string
	for _, name := range n.Names[:min(len(n.Names), maxShown)] {
		all = append(all, code(name))
	}
	if more := n.Len() - len(all); more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}

// tested describes the result of the tests, and the findings, for people.
func tested(ev instance.Evidence) string {
	if found := ev.Data[work.Findings]; found != "" {
		return outcome(ev) + "\n\nOf the tests themselves: " + code(found) + "."
	}
	return outcome(ev)
}

func outcome(ev instance.Evidence) string {
	on := code(ev.Command) + " on " + code(short(ev.Commit))
	if ev.Role != "" {
		on += ", run by " + code(ev.Role) + " (" + code(ev.Agent) + ")"
	}
	switch n := len(ev.Failed); {
	case ev.Command == "":
		return "It was not tested."
	case testrun.CouldNotRun(ev):
		return on + " could not be run."
	case ev.OK && ev.Passed > 0:
		return fmt.Sprintf("%s: %s.", on, passes(ev.Passed))
	case ev.OK:
		return on + ": passes."
	case n > 0:
		return fmt.Sprintf("%s: %d of %d tests fail.", on, n, n+ev.Passed)
	}
	return on + ": fails."
}

func passes(n int) string {
	if n == 1 {
		return "1 test passes"
	}
	return fmt.Sprintf("%d tests pass", n)
}

// numbered is a question with its number, which joins the emphasis that the
// question may begin with. Lines after the first are quoted: they could hold
// headings that pass for ours.
func numbered(q instance.Question) string {
	first, more, _ := strings.Cut(strings.Join(sanitize.Lines(strings.TrimSpace(q.Text)), "\n"), "\n")
	text := sanitize.MarkdownLine(first)
	if strings.TrimSpace(more) != "" {
		text += "\n\n" + sanitize.Quote(more)
	}
	if rest, ok := strings.CutPrefix(text, "**"); ok && strings.Contains(rest, "**") {
		return fmt.Sprintf("**Q%d. %s", q.Number, rest) + formed(q)
	}
	return fmt.Sprintf("**Q%d.** %s", q.Number, text) + formed(q)
}

// formed describes the form of an answer below its question.
func formed(q instance.Question) string {
	var b strings.Builder
	options, more := q.Lines(q.Deadline)
	for i, o := range options {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString("\n- " + sanitize.MarkdownLine(o))
	}
	if len(more) > 0 {
		b.WriteString("\n\n" + sanitize.MarkdownLine(strings.Join(more, " ")))
	}
	return b.String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Sentence is a text on one line that ends with a full stop.
func Sentence(s string) string { return strings.TrimRight(oneLine(s), ".") + "." }

// excerpt is the beginning of a text, on one line.
func excerpt(s string) string {
	if runes := []rune(oneLine(s)); len(runes) > maxExcerpt {
		return string(runes[:maxExcerpt]) + " …"
	}
	return oneLine(s)
}

// quote is a text of others as a quote of its beginning.
func quote(s string) string {
	all := sanitize.Lines(strings.TrimSpace(s))
	if len(all) > maxQuote {
		all = append(all[:maxQuote], "…")
	}
	for i, line := range all {
		if runes := []rune(line); len(runes) > maxExcerpt {
			all[i] = string(runes[:maxExcerpt]) + " …"
		}
	}
	return sanitize.Quote(strings.Join(all, "\n"))
}

// code is a text as code within a line.
func code(s string) string { return sanitize.Code(excerpt(s)) }

// cell and codeCell are a text, as Markdown and as code, within a cell of a table.
func cell(s string) string     { return sanitize.Cell(excerpt(s)) }
func codeCell(s string) string { return sanitize.CodeCell(excerpt(s)) }

func short(commit string) string { return commit[:min(len(commit), 12)] }

// newest is the newest evidence of tests.
func newest(a brain.Assignment) (ev instance.Evidence) {
	for _, e := range a.Evidence {
		if e.Name == testrun.Name {
			ev = e
		}
	}
	return ev
}
