package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/document/prd"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// ChangeEvidence ties the acceptance criteria of a change to the tests that show them, and has
// the rest that a reviewer should know. All of it is in the log. Its JSON is an interface.
type ChangeEvidence struct {
	Base     string      `json:"base"`
	Head     string      `json:"head"`
	Criteria []Criterion `json:"criteria"` // as the plan or the report has them; the change as a whole is last

	Ran          []Ran              `json:"ran"`           // each check, the newest of its name
	BaseFailures verdict.Names      `json:"base_failures"` // failed on the base and still fail
	Flaky        []verdict.Flake    `json:"flaky"`         // had both outcomes on one commit
	Accepted     []verdict.Accepted `json:"accepted"`      // tests that no longer hold, each with the role or the person that accepted it
	BothWays     *verdict.BothWays  `json:"both_ways"`     // the files of the change that decide how it is tested; null: none
	Findings     string             `json:"findings"`      // of the tests themselves
	Said         []Statement        `json:"said"`          // the answers of people
	Demo         *instance.Demo     `json:"demo"`          // the output and the pictures of the repository's demonstration; null: none
}

// Criterion is an acceptance criterion with the tests that show it, or the reason why none does.
type Criterion struct {
	Text     string              `json:"criterion"`
	From     Source              `json:"from"`
	Tests    []verdict.ShownTest `json:"tests"` // each failed on the base and passes on the change
	NotShown string              `json:"not_shown,omitempty"`
}

// Source is where a criterion stands.
type Source string

// The sources of criteria.
const (
	OfPlan   Source = "plan"
	OfReport Source = "report"
	OfAnswer Source = "answer" // of a person, to the question when the work is done
	OfWhole  Source = "whole"  // it stands for the change as a whole
)

// Ran is a check that ran.
type Ran struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Commit  string   `json:"commit"`
	OK      bool     `json:"ok"`
	Passed  int      `json:"passed"`
	Failed  []string `json:"failed"`
}

// Statement is a question with the answer that a person gave.
type Statement struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
	By       string `json:"by"`
}

// EvidenceOf returns the evidence of an assignment's work; nil if there is no work yet. It
// reads the issue, the plan, the questions and the evidence of the assignment.
func EvidenceOf(a brain.Assignment) *ChangeEvidence {
	p := instance.ProofOf(a.Evidence, a.Base, a.Head)
	if !p.Shown && p.Reason == "" {
		return nil
	}
	j := p.Judgement
	e := &ChangeEvidence{
		Base: a.Base, Head: a.Head, Criteria: tied(a, p), Ran: []Ran{}, BaseFailures: j.BaseFailures,
		Flaky: append([]verdict.Flake{}, j.Flaky...), Accepted: append([]verdict.Accepted{}, j.Accepted...), BothWays: j.Ways,
		Findings: newest(a).Data[work.Findings], Said: []Statement{}, Demo: demoOf(a),
	}
	for _, ev := range a.Evidence {
		if ev.Command != "" && ev.Name != work.Red {
			e.Ran = append(e.Ran, Ran{ev.Name, ev.Command, ev.Commit, ev.OK, ev.Passed, append([]string{}, ev.Failed...)})
		}
	}
	for _, q := range a.Questions {
		if q.Answered && q.To == "" {
			e.Said = append(e.Said, Statement{q.Text, q.Answer, q.By})
		}
	}
	return e
}

// tied lists the criteria, each with the tests that it names. The tests that none names show
// the change as a whole.
func tied(a brain.Assignment, p instance.Proof) []Criterion {
	all, whole := criteriaOf(a)
	left := map[string]bool{}
	for _, t := range p.Judgement.Tests {
		left[t.Name] = p.Shown
	}
	for i := range all {
		c := &all[i].Criterion
		c.Tests = []verdict.ShownTest{}
		for _, t := range p.Judgement.Tests {
			if p.Shown && (all[i].names(t.Name) || all[i].isIn(t)) {
				c.Tests, left[t.Name] = append(c.Tests, t), false
			}
		}
		if len(c.Tests) == 0 {
			c.NotShown = all[i].unshown(a)
		}
	}
	last := Criterion{Text: whole, From: OfWhole, Tests: []verdict.ShownTest{}}
	for _, t := range p.Judgement.Tests {
		if left[t.Name] {
			last.Tests = append(last.Tests, t)
		}
	}
	if !p.Shown {
		last.NotShown = p.Reason
		if p.Waived != "" {
			last.NotShown += "; " + p.Waived + " accepted that"
		}
	}
	var rows []Criterion
	for _, c := range all {
		rows = append(rows, c.Criterion)
	}
	if len(last.Tests) > 0 || last.NotShown != "" {
		rows = append(rows, last)
	}
	return rows
}

// wanted is a criterion as it was read.
type wanted struct {
	Criterion
	command string   // that shows it; empty: none
	run     []string // the commands of all criteria, as they ran
}

// identifier matches the name of a test that no sentence has by accident.
var identifier = lazyregexp.New(`^[\pL_$][\pL\pN_$]*(?:_|[\pL\pN]\p{Lu}|\pN)[\pL\pN_$]*$`)

// names reports whether the criterion names a test: as its command, in the words of its name,
// or by its identifier.
func (w wanted) names(test string) bool {
	if w.command != "" && w.command == test {
		return true
	}
	short := test[strings.LastIndexAny(test, ".:/> ")+1:]
	_, last, _ := cutLast(test, " > ")
	if text := title(w.Text); text != "" && (text == title(test) || text == title(last)) {
		return true
	}
	return identifier.MatchString(short) && slices.Contains(strings.FieldsFunc(w.Text, func(r rune) bool {
		return !strings.ContainsRune("_$", r) && !word.MatchString(string(r))
	}), short)
}

// quoted matches a value that a sentence quotes: as code, or in double quotes.
var quoted = lazyregexp.New("`([^`\n]+)`|\"([^\"\n]+)\"")

// isIn reports whether a test has each value that the criterion quotes, in its name or in the output of
// its failure, which tends to have the call and the results.
func (w wanted) isIn(t verdict.ShownTest) bool {
	values := quoted.FindAllStringSubmatch(w.Text, -1)
	for _, v := range values {
		if value := cmp.Or(v[1], v[2]); !strings.Contains(t.Output, value) && !strings.Contains(t.Name, value) {
			return false
		}
	}
	return len(values) > 0
}

// cutLast cuts a text at the last separator; after is the text if it has none.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

// unshown returns why no test shows the criterion.
func (w wanted) unshown(a brain.Assignment) string {
	if w.command == "" {
		return "no test that failed before names it"
	}
	ran := strings.Join(w.run, ", ")
	for _, ev := range a.Evidence {
		switch {
		case ev.Commit != a.Head || ev.Command != ran:
		case slices.Contains(ev.Failed, w.command):
			return "its command fails"
		case ev.OK:
			return "its command passes; no run shows that it failed before"
		}
	}
	return "its command was not run on the newest commit"
}

// criteriaOf lists the acceptance criteria of the plan, or of the report and of the answers
// to the question for them, and the name of the whole that they are of.
func criteriaOf(a brain.Assignment) (all []wanted, whole string) {
	if text := cmp.Or(string(a.Sections["story"]), a.Vars["story"]); text != "" {
		if s, err := prd.ParseStory(text); err == nil { // else the role that runs the criteria refuses the plan
			commands := s.Commands()
			for _, c := range s.Criteria {
				all = append(all, wanted{Criterion: Criterion{Text: c.Text, From: OfPlan}, command: c.Command, run: commands})
			}
			return all, "the plan as a whole"
		}
	}
	add := func(from Source, text string) {
		for _, one := range itemsOf(text) {
			all = append(all, wanted{Criterion: Criterion{Text: one, From: from}})
		}
	}
	for _, s := range sections(a.Issue.Body, func(title string) bool { return len(named(title)) > 0 }) {
		if found := named(s.title); s.says() && (slices.Contains(found, expected) || slices.Contains(found, acceptance)) {
			add(OfReport, cmp.Or(strings.TrimSpace(s.text), s.code))
		}
	}
	for _, q := range a.Questions {
		if q.Answered && q.To == "" && (part{element: expected}.isAbout(q.Text) || part{element: acceptance}.isAbout(q.Text)) {
			add(OfAnswer, q.Answer)
		}
	}
	return all, "the report as a whole"
}

// item matches a line of a list, with the box that people tick.
var item = lazyregexp.New(`^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(.*\S)`)

// itemsOf returns the items of the list that a text has, else the text on one line.
func itemsOf(text string) (all []string) {
	for line := range strings.Lines(text) {
		if m := item.FindStringSubmatch(line); m != nil {
			all = append(all, m[1])
		} else if n := len(all); n > 0 && strings.TrimSpace(line) != "" {
			all[n-1] += " " + strings.TrimSpace(line)
		}
	}
	if text = oneLine(text); len(all) == 0 && text != "" {
		all = []string{text}
	}
	return all
}

// also describes the checks that ran in addition to the tests, a line each.
func also(a brain.Assignment) (lines []string) {
	for _, ev := range a.Evidence {
		if ev.Command != "" && ev.Name != work.Red && ev.Name != testrun.Name {
			lines = append(lines, "also ran, "+code(ev.Name)+": "+outcome(ev))
		}
	}
	return lines
}

// maxRows is how many criteria stand in the table; the others are folded.
const maxRows = 10

// table is the table of criteria as Markdown, at most so many rows; empty if there is no work.
func (e *ChangeEvidence) table(most int) string {
	if e == nil {
		return ""
	}
	shown, criteria, whole := 0, 0, "" // without the whole
	for _, c := range e.Criteria {
		if c.From == OfWhole {
			if c.NotShown == "" {
				whole = c.Text
			}
			continue
		}
		criteria++
		if c.NotShown == "" {
			shown++
		}
	}
	first := e.Criteria[:min(len(e.Criteria), max(most, 1), maxRows)]
	rest := e.Criteria[len(first):min(len(e.Criteria), max(most, 1))]
	var b strings.Builder
	switch {
	case criteria > 0 && whole != "":
		fmt.Fprintf(&b, "Tests show %s, and name %d of %d criteria.\n\n", whole, shown, criteria)
	case criteria > 1:
		fmt.Fprintf(&b, "%d of %d criteria are shown by tests.\n\n", shown, criteria)
	}
	b.WriteString(rows(first))
	if len(rest) > 0 {
		b.WriteString(opened("More criteria") + "\n" + rows(rest) + closed)
	}
	if left := len(e.Criteria) - len(first) - len(rest); left > 0 {
		fmt.Fprintf(&b, "\n… and %d more criteria\n", left)
	}
	return b.String()
}

// rows is a table of criteria.
func rows(all []Criterion) string {
	var b strings.Builder
	b.WriteString("\n| criterion | test | failed on | passes on |\n|---|---|---|---|\n")
	for _, c := range all {
		b.WriteString("| " + cell(c.Text) + " | " + c.cells() + " |\n")
	}
	return b.String()
}

// cells has the tests of a criterion and their commits, or why no test shows it.
func (c Criterion) cells() string {
	if c.NotShown != "" || len(c.Tests) == 0 {
		return "**not shown:** " + cell(c.NotShown) + " | – | –"
	}
	var names []string
	for _, t := range c.Tests[:min(len(c.Tests), maxShownTests)] {
		names = append(names, codeCell(t.Name)+wrote(t.By))
	}
	if more := len(c.Tests) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	t := c.Tests[0]
	red := code(short(t.Base))
	if t.Cause == verdict.Compile {
		red += ", where it does not compile"
	}
	return strings.Join(names, "<br>") + " | " + red + " | " + code(short(t.Change))
}
