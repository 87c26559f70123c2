package workflow

import (
	"fmt"
	"slices"
	"strings"
)

// Mermaid draws the definition's table as a stateDiagram-v2, for GitHub and other places
// that render one. It shows deadlines, what is asked and opened, and moves that need no
// work. A move that the source does not have says "added".
func Mermaid(d *Definition) string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for i, s := range d.States {
		if id, name := d.mermaidID(s.Name), s.timed(s.Name); id != name {
			fmt.Fprintf(&b, "    state %q as %s\n", name, id)
		}
		if i == len(d.States)-1 {
			fmt.Fprintf(&b, "    [*] --> %s\n", d.mermaidID(d.Initial))
		}
	}
	for _, s := range d.States {
		for _, t := range s.Next {
			label := ""
			switch {
			case s.byItself(t.To) && t.Added != "":
				label = ": by itself, added"
			case s.byItself(t.To):
				label = ": by itself"
			case t.Added != "":
				label = ": added"
			}
			fmt.Fprintf(&b, "    %s --> %s%s\n", d.mermaidID(s.Name), d.mermaidID(t.To), label)
		}
		if s.Kind == Final {
			fmt.Fprintf(&b, "    %s --> [*]\n", d.mermaidID(s.Name))
		}
		for _, note := range s.notes() {
			fmt.Fprintf(&b, "    note right of %s: %s\n", d.mermaidID(s.Name), note)
		}
	}
	for i, role := range d.Roles() {
		fmt.Fprintf(&b, "    classDef owner%d fill:%s,color:#222\n", i, colour(i))
		for _, name := range d.OwnedBy(role) {
			fmt.Fprintf(&b, "    class %s owner%d\n", d.mermaidID(name), i)
		}
	}
	return b.String()
}

// mermaidID is the state's name where Mermaid can read it: a hyphen ends a name there.
func (d *Definition) mermaidID(name string) string {
	if strings.Contains(name, "-") {
		return fmt.Sprintf("s%d", d.index[name])
	}
	return name
}

// colour is a light fill for the i-th role.
func colour(i int) string {
	colours := []string{"#cfe2f3", "#d9ead3", "#fff2cc", "#f4cccc", "#d9d2e9", "#d0e0e3", "#fce5cd", "#ead1dc"}
	return colours[i%len(colours)]
}

// byItself reports whether an always rule leads from s to a state.
func (s State) byItself(to string) bool {
	return slices.ContainsFunc(s.Always, func(r Rule) bool {
		first, ok := s.first(r.To)
		return ok && first == to
	})
}

// timed is a text about the state with its deadline.
func (s State) timed(text string) string {
	if s.Timeout == 0 {
		return text
	}
	return text + " " + brief(s.Timeout.String())
}

// notes say whom the state asks and what it opens.
func (s State) notes() []string {
	return slices.Concat(
		each(s.Asks, func(q Inquiry) string { return "asks " + q.To }),
		each(s.Spawns, func(sp Spawn) string { return "opens " + sp.Workflow }))
}
