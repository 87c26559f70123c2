package workflow

import (
	"cmp"
	"maps"
	"slices"
)

// overlay lays o over base and gives a definition of its own that shares no
// slice or map with either:
//   - name and version are o's; initial, order and loop are o's if it has them
//   - values of policy and vars, may (by action), resolves (by signal), limits, gates
//     (by name) and a state's about, owner, timeout, proposes and reactions (by signal)
//     replace the base's or are added
//   - so do a state's work and, by role, answers; a new owner does not have the work of
//     the one before
//   - entries and a state's next add to the base's; tell stays once said; its always,
//     asks, spawns, writes and decide each replace the base's list
//   - new states come last
func overlay(base, o *Definition) *Definition {
	d := base.clone()
	d.Name, d.Version, d.Extends, d.at = o.Name, o.Version, o.Extends, o.at
	d.Initial = cmp.Or(o.Initial, d.Initial)
	d.Loop = cmp.Or(o.Loop, d.Loop)
	maps.Copy(d.Policy, o.Policy)
	d.Vars = laid(d.Vars, o.Vars)
	d.May = laid(d.May, o.May)
	d.gives = laidFrom(d.gives, o.gives)
	d.Entries, d.entriesAt = append(d.Entries, o.Entries...), append(d.entriesAt, o.entriesAt...)
	if o.Order != nil {
		d.Order = o.Order
	}
	for _, r := range o.Resolves {
		d.Resolves = put(d.Resolves, r, func(r Resolve) string { return r.Signal })
	}
	maps.Copy(d.places, o.places)
	for _, l := range o.Limits {
		d.Limits = put(d.Limits, l, func(r Rule) string { return r.Name })
	}
	for _, g := range o.Gates {
		d.Gates = put(d.Gates, g, func(g Gate) string { return g.Name })
	}
	for _, s := range o.States {
		if i, ok := base.index[s.Name]; ok {
			s = d.States[i].overlay(s)
		}
		d.States = put(d.States, s, func(s State) string { return s.Name })
	}
	return d
}

func (s State) overlay(o State) State {
	s.About = cmp.Or(o.About, s.About)
	s.Added = cmp.Or(o.Added, s.Added)
	if o.Owner != "" && o.Owner != s.Owner {
		s.work = nil
	}
	s.work = cmp.Or(o.work, s.work)
	s.answers = laid(s.answers, o.answers)
	s.workAt = laid(s.workAt, o.workAt)
	s.Owner = cmp.Or(o.Owner, s.Owner)
	s.Kind = cmp.Or(o.Kind, s.Kind)
	if s.Kind != Final {
		s.Kind = "" // an owner may have come
	}
	s.Timeout = cmp.Or(o.Timeout, s.Timeout)
	s.proposes = cmp.Or(o.proposes, s.proposes)
	s.Next = append(s.Next, o.Next...)
	s.Tell = s.Tell || o.Tell
	if o.Always != nil {
		s.Always = o.Always
	}
	if o.Asks != nil {
		s.Asks = o.Asks
	}
	if o.Spawns != nil {
		s.Spawns = o.Spawns
	}
	if o.Writes != nil {
		s.Writes, s.writesAt = o.Writes, o.writesAt
	}
	if o.Decide != nil {
		s.Decide = o.Decide
	}
	s.On = laid(s.On, o.On)
	s.at = o.at
	return s
}

// laid adds what over has to a map that is base's own, or replaces it there.
func laid[V any](base, over map[string]V) map[string]V {
	if base == nil {
		return over
	}
	maps.Copy(base, over)
	return base
}

// put replaces the item of the same name or adds it at the end.
func put[T any](list []T, item T, name func(T) string) []T {
	if i := slices.IndexFunc(list, func(t T) bool { return name(t) == name(item) }); i >= 0 {
		list[i] = item
		return list
	}
	return append(list, item)
}

// clone copies whatever finish or an overlay writes to.
func (d *Definition) clone() *Definition {
	c := *d
	c.Policy, c.Vars, c.May, c.places = maps.Clone(d.Policy), maps.Clone(d.Vars), maps.Clone(d.May), maps.Clone(d.places)
	if d.gives != nil {
		c.gives = laidFrom(d.gives, &From{})
	}
	c.Entries, c.entriesAt = slices.Clip(d.Entries), slices.Clip(d.entriesAt)
	c.Order, c.Resolves = slices.Clone(d.Order), slices.Clone(d.Resolves)
	c.Limits, c.Gates, c.States = slices.Clone(d.Limits), slices.Clone(d.Gates), slices.Clone(d.States)
	for i := range c.States {
		s := &c.States[i]
		s.Next, s.Always, s.Decide = slices.Clip(s.Next), slices.Clone(s.Always), slices.Clone(s.Decide)
		s.Asks, s.Spawns, s.On = slices.Clone(s.Asks), slices.Clone(s.Spawns), maps.Clone(s.On)
		s.answers, s.workAt = maps.Clone(s.answers), maps.Clone(s.workAt)
		for signal, rules := range s.On {
			s.On[signal] = slices.Clone(rules)
		}
	}
	return &c
}
