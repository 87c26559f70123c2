package workflow

import "strings"

func (w *writer) state(d *Definition, s State) {
	w.line(1, "%s:", scalar(s.Name))
	start := w.Len()
	pairs := []pair{{"about", optional(s.About)}, {"owner", optional(s.Owner)}, {"final", yes(s.Kind == Final)}}
	if s.Timeout > 0 {
		pairs = append(pairs, pair{"timeout", s.Timeout.String()})
	}
	if s.Kind == Work && !s.Proposes {
		pairs = append(pairs, pair{"proposes", "false"})
	}
	pairs = append(pairs, pair{"writes", list(s.Writes)}, pair{"tell", yes(s.Tell)})
	for _, p := range pairs {
		if p.value != "" {
			w.line(2, "%s: %s", p.key, p.value)
		}
	}
	if len(s.Next) > 0 {
		w.line(2, "next:")
	}
	for _, t := range s.Next {
		if t.Added == "" {
			w.line(3, "- %s", scalar(t.To))
		} else {
			w.line(3, "- {to: %s, added: %s}", scalar(t.To), scalar(t.Added))
		}
	}
	w.block(2, "always", d, s.Always)
	if len(s.Asks) > 0 {
		w.line(2, "asks:")
	}
	for _, q := range s.Asks {
		w.item(3, pair{"when", optional(q.When.Source)}, pair{"to", scalar(q.To)}, pair{"text", scalar(q.Text)})
	}
	if len(s.Spawns) > 0 {
		w.line(2, "spawns:")
	}
	for _, sp := range s.Spawns {
		w.item(3, pair{"when", optional(sp.When.Source)}, pair{"workflow", scalar(sp.Workflow)},
			pair{"state", optional(sp.State)}, pair{"reason", optional(sp.Reason)})
	}
	w.block(2, "decide", d, s.Decide)
	if len(s.On) > 0 {
		w.line(2, "on:")
	}
	for _, signal := range sortedKeys(s.On) {
		w.line(3, "%s:", scalar(signal))
		w.rules(4, d, s.On[signal])
	}
	if w.Len() == start {
		w.Truncate(w.Len() - 1)
		w.WriteString(" {}\n")
	}
}

func (w *writer) block(depth int, key string, d *Definition, rules []Rule) {
	if len(rules) > 0 {
		w.line(depth, "%s:", key)
		w.rules(depth+1, d, rules)
	}
}

func (w *writer) rules(depth int, d *Definition, rules []Rule) {
	for _, r := range rules {
		w.item(depth, pair{"name", optional(r.Name)}, pair{"when", optional(r.When.Source)}, pair{"to", list(r.To)},
			pair{"stay", optional(r.Stay.Source)}, pair{"escalate", yes(r.Escalate)}, pair{"fresh", yes(r.ResetsFailures)},
			pair{"set", d.set(r.Set)}, pair{"reason", optional(r.Reason)}, pair{"failure", yes(r.Failure)})
	}
}

// set writes values as what they are: the number 3, not the text "3".
func (d *Definition) set(values map[string]string) string {
	if len(values) == 0 {
		return ""
	}
	pairs := make([]string, 0, len(values))
	for _, name := range sortedKeys(values) {
		value, _ := d.Var(name, values[name]) // check has seen that it is one
		pairs = append(pairs, name+": "+scalar(value))
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}
