package workflow

import (
	"fmt"
	"strings"
)

// Mermaid draws the definition's table as a stateDiagram-v2, for GitHub and other
// places that render one. A move that the source does not have says "added".
func Mermaid(d *Definition) string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for i, s := range d.States {
		if id := d.mermaidID(s.Name); id != s.Name {
			fmt.Fprintf(&b, "    state %q as %s\n", s.Name, id)
		}
		if i == len(d.States)-1 {
			fmt.Fprintf(&b, "    [*] --> %s\n", d.mermaidID(d.Initial))
		}
	}
	for _, s := range d.States {
		for _, t := range s.Next {
			label := ""
			if t.Added != "" {
				label = ": added"
			}
			fmt.Fprintf(&b, "    %s --> %s%s\n", d.mermaidID(s.Name), d.mermaidID(t.To), label)
		}
		if s.Kind == Final {
			fmt.Fprintf(&b, "    %s --> [*]\n", d.mermaidID(s.Name))
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
