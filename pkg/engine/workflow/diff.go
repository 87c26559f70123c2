package workflow

import (
	"fmt"
	"slices"
	"strings"
)

// Change is one thing that two definitions say differently.
type Change struct {
	What string `json:"what"`          // "timeout", "move", "rule", "policy", …
	Of   string `json:"of,omitempty"`  // the state or name it is of; empty for what a definition has one of
	Was  string `json:"was,omitempty"` // empty: it is new
	Is   string `json:"is,omitempty"`  // empty: it is gone
}

// String is one line: + for what is new, - for what is gone, ~ for what is another.
func (c Change) String() string {
	of := c.What
	if c.Of != "" {
		of += " of " + c.Of
	}
	switch {
	case c.Was == "":
		return "+ " + of + ": " + c.Is
	case c.Is == "":
		return "- " + of + ": " + c.Was
	}
	return "~ " + of + ": " + c.Was + " → " + c.Is
}

// Diff lists what b says otherwise than a, in the order of a's text; what b alone
// says comes after. It is empty if, and only if, both have the same hash.
func Diff(a, b *Definition) []Change {
	var changes []Change
	was, is := said(a, b), said(b, a)
	done := map[string]bool{}
	for _, s := range slices.Concat(was, is) {
		if done[s.key()] {
			continue
		}
		done[s.key()] = true
		changes = append(changes, changed(s, find(was, s), find(is, s))...)
	}
	if changes == nil && a.Hash != b.Hash {
		return []Change{{What: "wording", Was: a.Hash, Is: b.Hash}}
	}
	return changes
}

// saying is one or, in an order that counts, several things that a definition says.
type saying struct {
	what, of string
	texts    []string
	list     bool
}

func (s saying) key() string { return s.what + "\x00" + s.of }

func find(all []saying, s saying) []string {
	if i := slices.IndexFunc(all, func(o saying) bool { return o.key() == s.key() }); i >= 0 {
		return all[i].texts
	}
	return nil
}

func changed(s saying, was, is []string) []Change {
	if slices.Equal(was, is) {
		return nil
	}
	if !s.list {
		return []Change{{s.what, s.of, strings.Join(was, ""), strings.Join(is, "")}}
	}
	var changes []Change
	in := func(list []string) func(string) bool { return func(t string) bool { return slices.Contains(list, t) } }
	for _, text := range was {
		if !slices.Contains(is, text) {
			changes = append(changes, Change{s.what, s.of, text, ""})
		}
	}
	for _, text := range is {
		if !slices.Contains(was, text) {
			changes = append(changes, Change{s.what, s.of, "", text})
		}
	}
	first, then := both(was, in(is)), both(is, in(was))
	if !slices.Equal(first, then) {
		changes = append(changes, Change{"order of " + s.what, s.of, strings.Join(first, "; "), strings.Join(then, "; ")})
	}
	return changes
}

func both(list []string, in func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(list), func(t string) bool { return !in(t) })
}

// said is what d says, and of its states those that other has too.
func said(d, other *Definition) []saying {
	s := sayings{}
	s.one("workflow", "", d.Name)
	s.one("version", "", fmt.Sprint(d.Version))
	s.one("initial", "", d.Initial)
	s.many("entry", "", d.Entries)
	s.values("policy", d.Policy)
	s.values("var", d.Vars)
	s.many("rank", "", each(d.Order, func(g Guard) string { return g.Source }))
	for _, action := range sortedKeys(d.May) {
		s.one("right", action, strings.Join(d.May[action], ", "))
	}
	if d.gives != nil {
		for _, check := range sortedKeys(d.gives.Evidence) {
			s.one("source of evidence", check, giversText(d.gives.Evidence[check]))
		}
		for _, name := range sortedKeys(d.gives.Vars) {
			s.one("source of var", name, giversText(d.gives.Vars[name]))
		}
		if d.gives.Answers != nil {
			s.one("source of answers", "", giversText(d.gives.Answers))
		}
	}
	for _, r := range d.Resolves {
		s.one("resolving signal", r.Signal, r.When.Source)
	}
	if d.Loop.Window > 0 {
		s.one("loop", "", fmt.Sprintf("%d of %d", d.Loop.Distinct, d.Loop.Window))
	}
	s.many("limit", "", each(d.Limits, func(r Rule) string { return r.Name + ": " + sentence("when", r, plainly) }))
	s.many("gate", "", each(d.Gates, func(g Gate) string {
		return fmt.Sprintf("%s: into %s only when %s, else → %s: %s",
			g.Name, marked(g.To, plainly), g.Require.Source, marked(g.Instead, plainly), g.Reason)
	}))
	s.many("state", "", d.StateNames())
	for _, state := range d.States {
		if _, ok := other.State(state.Name); ok {
			s.state(state)
		}
	}
	return s
}

type sayings []saying

func (s *sayings) one(what, of, text string) {
	if text != "" {
		*s = append(*s, saying{what, of, []string{text}, false})
	}
}

// many counts equal texts, so that each is there once.
func (s *sayings) many(what, of string, texts []string) {
	seen := map[string]int{}
	texts = slices.Clone(texts)
	for i, text := range texts {
		if seen[text]++; seen[text] > 1 {
			texts[i] = fmt.Sprintf("%s (%d)", text, seen[text])
		}
	}
	*s = append(*s, saying{what, of, texts, true})
}

func (s *sayings) values(what string, values map[string]any) {
	for _, name := range sortedKeys(values) {
		s.one(what, name, scalar(values[name]))
	}
}

func (s *sayings) state(state State) {
	of := state.Name
	s.one("meaning", of, state.About)
	s.one("kind", of, string(state.Kind))
	s.one("owner", of, state.Owner)
	if state.Timeout > 0 {
		s.one("timeout", of, brief(state.Timeout.String()))
	}
	if state.Kind == Work {
		s.one("proposals", of, map[bool]string{true: "taken", false: "not taken"}[state.Proposes])
	}
	if state.Work != (WorkSpec{}) {
		s.one("work", of, state.Work.String())
	}
	for _, role := range sortedKeys(state.Answers) {
		s.one("work of answers of "+role, of, state.Answers[role].String())
	}
	s.one("addition", of, state.Added)
	s.many("section", of, state.Writes)
	if state.Tell {
		s.one("telling", of, "people")
	}
	s.many("move", of, each(state.Next, func(t Transition) string {
		if t.Added != "" {
			return t.To + " (added: " + t.Added + ")"
		}
		return t.To
	}))
	rule := func(r Rule) string { return sentence(opening(r), r, plainly) }
	s.many("always rule", of, each(state.Always, rule))
	s.many("question", of, each(state.Asks, func(q Inquiry) string { return question(q, plainly) }))
	s.many("spawn", of, each(state.Spawns, func(sp Spawn) string { return spawn(sp, plainly) }))
	s.many("rule", of, each(state.Decide, rule))
	for _, signal := range sortedKeys(state.On) {
		s.many("reaction to "+signal, of, each(state.On[signal], rule))
	}
}

func plainly(s string) string { return s }

func each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, t := range list {
		out[i] = f(t)
	}
	return out
}
