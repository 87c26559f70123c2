package workflow

import (
	"maps"
	"regexp"
	"slices"
)

var (
	oneToken   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`) // what fits a subject
	identifier = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)           // what a guard can read
)

// check reports names that mean nothing and rows that contradict themselves.
func check(d *Definition, ps *problems) {
	c := checker{d, d.StateNames(), ps}
	c.head()
	for _, s := range d.States {
		c.state(s)
	}
	named := map[string]bool{}
	name := func(what, name string, at Position) {
		switch {
		case name == "":
			ps.add(at, "a %s without a name", what)
		case named[name]:
			ps.add(at, "two limits or gates are named %q", name)
		}
		named[name] = true
	}
	for _, l := range d.Limits {
		name("limit", l.Name, l.at)
		if l.When.Always() {
			ps.add(l.at, "limit %q has no when: it would end every run at its first move", l.Name)
		}
		c.rule("limit", l)
	}
	for _, g := range d.Gates {
		name("gate", g.Name, g.at)
		if g.Require.Always() {
			ps.add(g.at, "gate %q requires nothing", g.Name)
		}
		c.targets("gate", "to", g.To, g.toAt, g.at)
		c.targets("gate", "instead", g.Instead, g.insteadAt, g.at)
	}
}

type checker struct {
	d      *Definition
	states []string
	*problems
}

func (c checker) head() {
	d := c.d
	c.token("workflow", d.Name, c.place("workflow"))
	if d.Version == 0 {
		c.add(d.at, "no version")
	}
	if len(d.States) == 0 {
		c.add(d.at, "no states")
	}
	switch _, known := d.State(d.Initial); {
	case d.Initial == "":
		c.add(d.at, "no initial state")
	case !known:
		c.unknown(c.place("initial"), "state", d.Initial, c.states)
	}
	if (d.Loop.Window == 0) != (d.Loop.Distinct == 0) || d.Loop.Distinct > d.Loop.Window {
		c.add(c.place("loop"), "loop of %d distinct states in a window of %d: want 1 <= distinct <= window", d.Loop.Distinct, d.Loop.Window)
	}
	for _, name := range sortedKeys(d.Policy) {
		if !identifier.MatchString(name) {
			c.add(c.place("policy."+name), "policy name %q, want small letters, digits and _", name)
		}
	}
}

// place is where a key of the head is written, or where the definition starts.
func (c checker) place(key string) Position {
	if at, ok := c.d.places[key]; ok {
		return at
	}
	return c.d.at
}

func (c checker) token(what, name string, at Position) {
	switch {
	case name == "":
		c.add(at, "no %s", what)
	case !oneToken.MatchString(name):
		c.add(at, "%s %q, want one token of letters, digits, _ and -", what, name)
	}
}

func (c checker) state(s State) {
	c.token("state", s.Name, s.at)
	if s.Owner != "" {
		c.token("owner", s.Owner, s.at)
	}
	if s.Kind == Final && (s.Owner != "" || s.Timeout != 0 || len(s.Next)+len(s.Decide)+len(s.On) > 0) {
		c.add(s.at, "%s is final: nothing leaves it and nobody works in it", s.Name)
	}
	if s.Kind != Work && (len(s.Decide) > 0 || s.proposes != nil) {
		c.add(s.at, "%s has no owner whose result decide or proposes could judge", s.Name)
	}
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
	for _, r := range s.Decide {
		c.rule("rule", r)
	}
	for _, signal := range sortedKeys(s.On) {
		c.token("signal", signal, s.at)
		for _, r := range s.On[signal] {
			c.rule("rule", r)
		}
	}
}

func (c checker) rule(what string, r Rule) {
	if what != "limit" && r.Name != "" {
		c.add(r.at, "a rule's name is its state: only limits have a name")
	}
	c.targets(what, "to", r.To, r.toAt, r.at)
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

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
