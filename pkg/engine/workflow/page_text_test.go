package workflow

import (
	"fmt"
	"maps"
	"strings"
)

// Page is the definition as a page of documentation, in Markdown: its table,
// its rules and its diagram. The drawing it shows is SVG's, as NAME.svg next to it.
func Page(d *Definition) string {
	var p page
	p.line("<!-- Generated from the definition: change that, then run go test ./pkg/engine/workflow -update. -->")
	p.line("# Lifecycle `%s`\n", d.Name)
	p.line("Version %d, %d states, opens in %s.%s\n", d.Version, len(d.States), opens(d), extends(d))
	p.line("![The states and moves of %s](%s.svg)\n", d.Name, d.Name)
	p.table(d)
	p.heading("Rules")
	p.line("%s", proposals(d))
	p.line("Where a rule names several states, the first that the table permits is taken.\n")
	for _, s := range d.States {
		p.rules(s)
	}
	p.givers(d)
	p.bounds(d)
	p.heading("Diagram")
	p.line("```mermaid\n%s```", Mermaid(d))
	return p.String()
}

type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }
func (p *page) heading(text string)             { p.line("## %s\n", text) }

func extends(d *Definition) string {
	if d.Extends == "" {
		return ""
	}
	return fmt.Sprintf(" Laid over [`%s`](%s.md).", d.Extends, d.Extends)
}

func opens(d *Definition) string {
	if len(d.Entries) == 0 {
		return code(d.Initial)
	}
	return code(d.Initial) + ", or in " + marked(d.Entries, code)
}

func (p *page) table(d *Definition) {
	p.heading("States")
	p.line("| state | owner | permitted next states |\n|---|---|---|")
	var added []string
	for _, s := range d.States {
		var row []string
		for _, t := range s.Next {
			if t.Added == "" {
				row = append(row, code(t.To))
				continue
			}
			row = append(row, "*"+code(t.To)+"*")
			added = append(added, fmt.Sprintf("- `%s` → `%s`: %s", s.Name, t.To, t.Added))
		}
		owner := s.Owner
		if s.Kind != Work {
			owner = "*" + string(s.Kind) + "*"
		}
		if s.Timeout > 0 {
			owner += "<br>" + brief(s.Timeout.String())
		}
		name := code(s.Name)
		if s.Added != "" {
			name = "*" + name + "*"
			added = append(added, fmt.Sprintf("- `%s`: %s", s.Name, s.Added))
		}
		p.line("| %s<br>%s | %s | %s |", name, s.About, owner, strings.Join(row, ", "))
	}
	if added != nil {
		p.line("\nWhat is in *italics* is an addition to the lifecycle's source:\n\n%s", strings.Join(added, "\n"))
	}
	p.line("")
}

func (p *page) rules(s State) {
	lines := p.doings(s)
	for _, r := range s.Always {
		lines = append(lines, sentence("by itself "+opening(r), r, code))
	}
	for _, r := range s.Decide {
		lines = append(lines, sentence(opening(r), r, code))
	}
	for _, signal := range sortedKeys(s.On) {
		for _, r := range s.On[signal] {
			first := "on " + code(signal)
			if !r.When.Always() {
				first += " when"
			}
			lines = append(lines, sentence(first, r, code))
		}
	}
	if len(lines) > 0 {
		p.line("### `%s`\n\n- %s\n", s.Name, strings.Join(lines, "\n- "))
	}
}

// proposals names the roles whose results may name the next state.
func proposals(d *Definition) string {
	var deaf []string
	work := 0
	for _, s := range d.States {
		if s.Kind == Work {
			work++
		}
		if s.Kind == Work && !s.Proposes {
			deaf = append(deaf, s.Name)
		}
	}
	text := "A permitted state that a result proposes is taken; otherwise the first rule that holds decides."
	switch len(deaf) {
	case 0:
		return text
	case work:
		return "The first rule that holds decides; proposals of results are ignored."
	}
	return text + "\nNo proposal is taken in " + marked(deaf, code) + "."
}

// doings are what happens in a state that moves nothing.
func (p *page) doings(s State) []string {
	var lines []string
	if said := s.Work.phrases(code); said != "" {
		lines = append(lines, s.Owner+": "+said)
	}
	for _, role := range sortedKeys(s.Answers) {
		lines = append(lines, "when "+role+" is asked: "+s.Answers[role].phrases(code))
	}
	if len(s.Writes) > 0 {
		lines = append(lines, s.Owner+" writes "+marked(s.Writes, code))
	}
	if s.Tell {
		lines = append(lines, "people are notified that it waits here")
	}
	for _, q := range s.Asks {
		lines = append(lines, question(q, code))
	}
	for _, sp := range s.Spawns {
		lines = append(lines, spawn(sp, code))
	}
	return lines
}

// givers writes who may say what moves are decided by.
func (p *page) givers(d *Definition) {
	p.heading("Sources of facts")
	p.line("A fact from any other role is set aside, and no rule sees it. "+
		"People's signals and rules set variables, too: `%s` stands for the signals.\n", Human)
	p.line("| fact | from | judges its own work, because |\n|---|---|---|")
	row := func(what, kind, name string) {
		var self []string
		named, _ := d.gives.givers(kind, name)
		for _, g := range named {
			if g.Self != "" {
				self = append(self, g.Role+": "+g.Self)
			}
		}
		p.line("| %s | %s | %s |", what, strings.Join(d.Givers(kind, name), "<br>"), strings.Join(self, "<br>"))
	}
	checks := maps.Clone(d.runs)
	if d.gives != nil {
		for name := range d.gives.Evidence {
			checks[name] = true
		}
	}
	for _, name := range sortedKeys(checks) {
		row("evidence "+code(name), GivenEvidence, name)
	}
	for _, name := range sortedKeys(d.Vars) {
		row("variable "+code(name), GivenVar, name)
	}
	row("answers of people", GivenAnswers, "")
	p.line("")
}

// bounds writes what holds in every state: limits, gates, the loop and the policy.
func (p *page) bounds(d *Definition) {
	if len(d.Limits) > 0 {
		p.heading("Limits")
		p.line("Tried in order before every move into a state that is not final.\n")
		for _, l := range d.Limits {
			p.line("- %s", sentence(code(l.Name)+" when", l, code))
		}
		p.line("")
	}
	if len(d.Gates) > 0 {
		p.heading("Gates")
		for _, g := range d.Gates {
			p.line("- `%s`: into %s only when `%s`, else → %s: %s",
				g.Name, marked(g.To, code), g.Require.Source, marked(g.Instead, code), g.Reason)
		}
		p.line("")
	}
	if d.Loop.Window > 0 {
		p.heading("Loop")
		p.line("At most %d different states among the last %d are a loop.\n", d.Loop.Distinct, d.Loop.Window)
	}
	p.values("Policy", d.Policy)
	p.values("Variables", d.Vars)
	if len(d.Order) > 0 {
		p.heading("Order")
		p.line("Of what is ready, the lowest is claimed first; the first that differs decides.\n\n1. %s\n",
			strings.Join(each(d.Order, func(g Guard) string { return code(g.Source) }), "\n1. "))
	}
	if len(d.May)+len(d.Resolves) > 0 {
		p.heading("People")
	}
	for _, action := range sortedKeys(d.May) {
		p.line("- only %s may %s", strings.Join(d.May[action], ", "), action)
	}
	for _, r := range d.Resolves {
		p.line("- %s resolves an escalation when %s", code(r.Signal), code(r.When.Source))
	}
	if len(d.May)+len(d.Resolves) > 0 {
		p.line("")
	}
}

func (p *page) values(heading string, values map[string]any) {
	if len(values) == 0 {
		return
	}
	p.heading(heading)
	p.line("| name | default |\n|---|---|")
	for _, name := range sortedKeys(values) {
		p.line("| `%s` | %s |", name, value(values[name]))
	}
	p.line("")
}

// value is a default as a cell of a table; an empty text would not be seen.
func value(v any) string {
	if v == "" {
		return code(`""`)
	}
	return fmt.Sprint(v)
}

func code(s string) string { return "`" + s + "`" }

// phrases describes the work for people.
func (w WorkSpec) phrases(mark func(string) string) string {
	var said []string
	switch w.Runs {
	case RunsTests:
		said = append(said, "the tests are run")
	case RunsChecks:
		said = append(said, "tests, lint and type checks are run")
	case RunsCriteria:
		said = append(said, "the acceptance criteria are run on what is left")
	}
	switch {
	case w.Change == ChangeRequired:
		said = append(said, "a change is required")
	case w.DropsChanges():
		said = append(said, "changes are dropped")
	}
	if w.Does != "" {
		said = append(said, "does "+mark(w.Does))
	}
	return strings.Join(said, ", ")
}
