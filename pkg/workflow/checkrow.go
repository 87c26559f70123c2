package workflow

import (
	"fmt"
	"regexp"
	"slices"
)

func (c checker) state(s State) {
	c.token("state", s.Name, s.at)
	if s.Owner != "" {
		c.token("owner", s.Owner, s.at)
	}
	if s.Kind == Final && (s.Owner != "" || s.Timeout != 0 || len(s.Next)+len(s.Always)+len(s.Asks)+len(s.Decide)+len(s.On) > 0) {
		c.add(s.at, "%s is final: nothing leaves it and nobody works in it", s.Name)
	}
	if s.Kind != Work && (len(s.Decide) > 0 || s.proposes != nil) {
		c.add(s.at, "%s has no owner whose result decide or proposes could judge", s.Name)
	}
	if s.Kind != Work && len(s.Writes) > 0 {
		c.add(s.writesAt[0], "%s has no owner to write %s", s.Name, s.Writes[0])
	}
	for i, section := range s.Writes {
		c.token("section", section, s.writesAt[i])
		if slices.Contains(s.Writes[:i], section) {
			c.add(s.writesAt[i], "%s may write %s already", s.Name, section)
		}
	}
	c.row(s)
	for _, rules := range [][]Rule{s.Always, s.Decide} {
		for _, r := range rules {
			c.rule("rule", r)
		}
	}
	for _, signal := range sortedKeys(s.On) {
		c.token("signal", signal, s.at)
		for _, r := range s.On[signal] {
			c.rule("rule", r)
		}
	}
	for _, q := range s.Asks {
		c.token("to", q.To, q.at)
		if q.Text == "" {
			c.add(q.at, "a question without text")
		}
		c.text(q.at, q.Text)
	}
	for _, sp := range s.Spawns {
		c.token("workflow", sp.Workflow, sp.at)
		if sp.State != "" {
			c.token("state", sp.State, sp.at)
		}
		c.text(sp.at, sp.Reason)
	}
}

func (c checker) row(s State) {
	seen := map[string]bool{}
	for _, t := range s.Next {
		switch {
		case t.To == "":
			c.add(t.at, "a move without to")
		case !slices.Contains(c.states, t.To):
			c.unknown(t.at, "state", t.To, c.states)
		case seen[t.To]:
			c.add(t.at, "%s is in the row of %s twice", t.To, s.Name)
		}
		seen[t.To] = true
	}
}

// rule checks that a rule does one thing, and that what comes with it fits.
func (c checker) rule(what string, r Rule) {
	if what != "limit" && r.Name != "" {
		c.add(r.at, "a rule's name is its state: only limits have a name")
	}
	moves := len(r.To) > 0
	switch done := howMany(moves, r.stays(), r.Escalate); {
	case done == 0:
		c.add(r.at, "a %s without to, stay or escalate", what)
	case done > 1:
		c.add(r.at, "a %s with more than one of to, stay and escalate", what)
	}
	for i, name := range r.To {
		if name != Previous && !slices.Contains(c.states, name) {
			c.unknown(r.toAt[i], "state", name, append(slices.Clone(c.states), Previous))
		}
	}
	if !moves && (r.ResetsFailures || r.Failure) {
		c.add(r.at, "fresh and failure are of a move: want to")
	}
	c.stay(r.Stay)
	for _, name := range sortedKeys(r.Set) {
		c.set(r, name)
	}
	c.text(r.at, r.Reason)
}

func (c checker) stay(s Stay) {
	if _, ok := c.d.wait(s); ok {
		return
	}
	m := placeholder.FindStringSubmatch(s.Source)
	if m == nil || m[0] != s.Source {
		c.add(s.at, "stay %q, want %s, %s, a duration like 15m, or ${policy.NAME}", s.Source, stayNow, staySignal)
		return
	}
	if value, ok := c.d.Policy[m[1]]; ok {
		c.add(s.at, "stay %s: %v is no duration like 15m", s.Source, value)
		return
	}
	c.unknown(s.at, "policy", m[1], sortedKeys(c.d.Policy))
}

func (c checker) set(r Rule, name string) {
	like, ok := c.d.Vars[name]
	if !ok {
		c.unknown(r.setAt[name], "var", name, sortedKeys(c.d.Vars))
		return
	}
	// The text must be the one way to write the value: it is what the log keeps.
	if value, ok := convert(r.Set[name], like); !ok || fmt.Sprint(value) != r.Set[name] {
		c.add(r.setAt[name], "set %s: %q is no %s", name, r.Set[name], valueType(like))
	}
}

var anyPlaceholder = regexp.MustCompile(`\$\{([^}]*)\}?`)

// text checks what a text has in place of policy values.
func (c checker) text(at Position, text string) {
	for _, m := range anyPlaceholder.FindAllString(text, -1) {
		p := placeholder.FindStringSubmatch(m)
		if p == nil {
			c.add(at, "%s in a text, want ${policy.NAME}", m)
			continue
		}
		if _, ok := c.d.Policy[p[1]]; !ok {
			c.unknown(at, "policy", p[1], sortedKeys(c.d.Policy))
		}
	}
}

func (c checker) targets(what, key string, to []string, at []Position, start Position) {
	if len(to) == 0 {
		c.add(start, "a %s without %s", what, key)
	}
	for i, name := range to {
		if !slices.Contains(c.states, name) {
			c.unknown(at[i], "state", name, c.states)
		}
	}
}

func howMany(flags ...bool) int {
	n := 0
	for _, f := range flags {
		if f {
			n++
		}
	}
	return n
}
