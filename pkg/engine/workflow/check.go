package workflow

import (
	"fmt"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

var (
	oneToken   = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`) // what fits a subject
	identifier = lazyregexp.New(`^[a-z][A-Za-z0-9_]{0,63}$`)        // names that a guard can read
)

// check reports names that mean nothing and rows that contradict themselves.
func check(d *Definition, ps *problems) {
	c := checker{d, d.StateNames(), ps}
	c.head()
	c.entries()
	c.may()
	c.from()
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

// policyWords are the values of policies that the runtime reads.
var policyWords = map[string][]string{
	"draft_until":  {"checks", "merge"},            // when the shepherd ends a draft
	"learnings":    {"auto", "confirmed", "none"},  // what prompts have of what was learned before
	"test_changes": {"aside", "refuse", "allow"},   // what becomes of changes to what tests them
	"red_first":    {"written", "always", "never"}, // when tests have to fail before there is code for them
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
		c.add(d.at, "no version: want version: 1")
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
	for _, name := range sortedKeys(policyWords) {
		if text, ok := d.Policy[name].(string); ok && !slices.Contains(policyWords[name], text) {
			c.unknown(c.place("policy."+name), name, text, policyWords[name])
		}
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
var actions = []string{"override", "cancel", "pause", "resume", "retry", "reopen", "migrate"}

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
	c.work(s)
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
	if r.Resumes {
		c.resumes(r)
	}
	c.stay(r.Stay)
	for _, name := range sortedKeys(r.Set) {
		c.set(r, name)
	}
	c.text(r.at, r.Reason)
}

// resumes checks that a rule which continues a wait leads to waits only.
func (c checker) resumes(r Rule) {
	if len(r.To) == 0 {
		c.add(r.at, "resumes is of a move: want to")
	}
	for i, name := range r.To {
		if s, ok := c.d.State(name); name == Previous || ok && s.Kind != Wait {
			c.add(r.toAt[i], "resumes continues a wait, and %s is none", name)
		}
	}
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

var anyPlaceholder = lazyregexp.New(`\$\{([^}]*)\}?`)

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
