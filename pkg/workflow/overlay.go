package workflow

import (
	"cmp"
	"maps"
	"slices"
)

// overlay lays o over base and gives a definition of its own that shares no
// slice or map with either:
//   - name and version are o's; initial and loop are o's if it has them
//   - policy values, limits, gates (by name) and a state's about, owner, timeout,
//     proposes and reactions (by signal) replace the base's or are added
//   - a state's next adds to the base's row; its decide replaces the base's rules
//   - new states come last
func overlay(base, o *Definition) *Definition {
	d := base.clone()
	d.Name, d.Version, d.Extends, d.at = o.Name, o.Version, o.Extends, o.at
	d.Initial = cmp.Or(o.Initial, d.Initial)
	d.Loop = cmp.Or(o.Loop, d.Loop)
	maps.Copy(d.Policy, o.Policy)
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
	s.Owner = cmp.Or(o.Owner, s.Owner)
	s.Kind = cmp.Or(o.Kind, s.Kind)
	if s.Kind != Final {
		s.Kind = "" // an owner may have come
	}
	s.Timeout = cmp.Or(o.Timeout, s.Timeout)
	s.proposes = cmp.Or(o.proposes, s.proposes)
	s.Next = append(s.Next, o.Next...)
	if o.Decide != nil {
		s.Decide = o.Decide
	}
	if s.On == nil {
		s.On = map[string][]Rule{}
	}
	maps.Copy(s.On, o.On)
	s.at = o.at
	return s
}

// put replaces the item of the same name or adds it at the end.
func put[T any](list []T, item T, name func(T) string) []T {
	if i := slices.IndexFunc(list, func(t T) bool { return name(t) == name(item) }); i >= 0 {
		list[i] = item
		return list
	}
	return append(list, item)
}

// clone copies whatever finish writes to.
func (d *Definition) clone() *Definition {
	c := *d
	c.Policy, c.places = maps.Clone(d.Policy), maps.Clone(d.places)
	c.Limits, c.Gates, c.States = slices.Clone(d.Limits), slices.Clone(d.Gates), slices.Clone(d.States)
	for i := range c.States {
		s := &c.States[i]
		s.Next, s.Decide, s.On = slices.Clip(s.Next), slices.Clone(s.Decide), maps.Clone(s.On)
		for signal, rules := range s.On {
			s.On[signal] = slices.Clone(rules)
		}
	}
	return &c
}
