package workflow

import (
	"fmt"
	"strings"
)

// Page is the definition as a page of documentation, in Markdown: its table,
// its rules and its diagram. The drawing it shows is SVG's, as NAME.svg beside it.
func Page(d *Definition) string {
	var p page
	p.line("<!-- Generated from the definition: change that, then run go test ./pkg/workflow -update. -->")
	p.line("# Lifecycle `%s`\n", d.Name)
	p.line("Version %d, %d states, opens in `%s`.%s\n", d.Version, len(d.States), d.Initial, extends(d))
	p.line("![The states and moves of %s](%s.svg)\n", d.Name, d.Name)
	p.table(d)
	p.heading("Rules")
	p.line("A result that proposes a permitted state is taken at its word; otherwise the first rule that holds decides.")
	p.line("Where a rule names several states, the first that the table permits is taken.\n")
	for _, s := range d.States {
		p.rules(s)
	}
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
		p.line("| `%s`<br>%s | %s | %s |", s.Name, s.About, owner, strings.Join(row, ", "))
	}
	if added != nil {
		p.line("\nMoves in *italics* are additions to the lifecycle's source:\n\n%s", strings.Join(added, "\n"))
	}
	p.line("")
}

func (p *page) rules(s State) {
	if len(s.Decide)+len(s.On) == 0 {
		return
	}
	p.line("### `%s`\n", s.Name)
	for _, r := range s.Decide {
		if r.When.Always() {
			p.rule("otherwise", r)
		} else {
			p.rule("when", r)
		}
	}
	for _, signal := range sortedKeys(s.On) {
		for _, r := range s.On[signal] {
			if r.When.Always() {
				p.rule("on "+code(signal), r)
			} else {
				p.rule("on "+code(signal)+" when", r)
			}
		}
	}
	p.line("")
}

// rule writes what comes first, the guard, the targets and the reason.
func (p *page) rule(first string, r Rule) {
	if !r.When.Always() {
		first += " " + code(r.When.Source)
	}
	text := first + " → " + codes(r.To)
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	if r.Failure {
		text += " (a failure)"
	}
	p.line("- %s", text)
}

// bounds writes what holds in every state: limits, gates, the loop and the policy.
func (p *page) bounds(d *Definition) {
	if len(d.Limits) > 0 {
		p.heading("Limits")
		p.line("Tried in order before every move into a state that is not final.\n")
		for _, l := range d.Limits {
			p.rule(code(l.Name)+" when", l)
		}
		p.line("")
	}
	if len(d.Gates) > 0 {
		p.heading("Gates")
		for _, g := range d.Gates {
			p.line("- `%s`: into %s only when `%s`, else → %s: %s", g.Name, codes(g.To), g.Require.Source, codes(g.Instead), g.Reason)
		}
		p.line("")
	}
	if d.Loop.Window > 0 {
		p.heading("Loop")
		p.line("At most %d different states among the last %d are a loop.\n", d.Loop.Distinct, d.Loop.Window)
	}
	if len(d.Policy) > 0 {
		p.heading("Policy")
		p.line("| name | default |\n|---|---|")
		for _, name := range sortedKeys(d.Policy) {
			p.line("| `%s` | %v |", name, d.Policy[name])
		}
		p.line("")
	}
}

func code(s string) string { return "`" + s + "`" }

func codes(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = code(s)
	}
	return strings.Join(quoted, ", ")
}
