package workflow

import (
	"maps"
	"regexp"
	"slices"
)

var (
	oneToken   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`) // what fits a subject
	identifier = regexp.MustCompile(`^[a-z][A-Za-z0-9_]{0,63}$`)        // what a guard can read
)

// check reports names that mean nothing and rows that contradict themselves.
func check(d *Definition, ps *problems) {
	c := checker{d, d.StateNames(), ps}
	c.head()
	c.entries()
	c.may()
	for _, r := range d.Resolves {
		c.token("signal", r.Signal, r.at)
	}
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
		if l.stays() {
			ps.add(l.Stay.at, "limit %q stays: a limit replaces a move, by to or escalate", l.Name)
		}
		if i := slices.Index(l.To, Previous); i >= 0 {
			ps.add(l.toAt[i], "limit %q leads to %s: want a state by name", l.Name, Previous)
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
		c.text(g.at, g.Reason)
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
	for group, values := range map[string]map[string]any{"policy": d.Policy, "vars": d.Vars} {
		for _, name := range sortedKeys(values) {
			if !identifier.MatchString(name) {
				c.add(c.place(group+"."+name), "%s name %q, want a small letter, then letters, digits and _", group, name)
			}
		}
	}
}

func (c checker) entries() {
	seen := map[string]bool{c.d.Initial: true}
	for i, name := range c.d.Entries {
		at := c.d.entriesAt[i]
		switch s, known := c.d.State(name); {
		case !known:
			c.unknown(at, "state", name, c.states)
		case seen[name]:
			c.add(at, "an instance may be opened in %s already", name)
		case s.Kind == Final:
			c.add(at, "%s is final: an instance opened in it would have ended", name)
		}
		seen[name] = true
	}
}

// actions are what a definition may keep to some.
var actions = []string{"override", "cancel", "pause", "resume", "retry", "migrate"}

func (c checker) may() {
	known := append(c.d.Roles(), Human)
	for _, action := range sortedKeys(c.d.May) {
		at := c.place("may." + action)
		if !slices.Contains(actions, action) {
			c.unknown(at, "action", action, actions)
		}
		who := c.d.May[action]
		if len(who) == 0 {
			c.add(at, "nobody may %s: want roles or %s", action, Human)
		}
		for i, name := range who {
			at := c.place("may." + action + "." + name)
			if !slices.Contains(known, name) {
				c.unknown(at, "role", name, known)
			}
			if slices.Contains(who[:i], name) {
				c.add(at, "%s may %s twice", name, action)
			}
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

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
