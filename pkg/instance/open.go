package instance

import (
	"cmp"
	"maps"
	"slices"
)

// open records the first event of an instance and runs the entry of its state.
func (d *decision) open(a Open) error {
	if a.Issue.Title == "" {
		return d.refuse(CodeInvalid, nil, "an issue needs a title")
	}
	name := cmp.Or(a.State, d.def.Initial)
	if !d.def.Opens(name) {
		return d.refuse(CodeInvalid, append([]string{d.def.Initial}, d.def.Entries...), "no instance of %s opens in %q", d.def.Name, name)
	}
	for _, v := range slices.Sorted(maps.Keys(a.Vars)) {
		if _, ok := d.def.Var(v, a.Vars[v]); !ok {
			return d.refuse(CodeInvalid, slices.Sorted(maps.Keys(d.def.Vars)), "%s: %q is no value of a variable of %s", v, a.Vars[v], d.def.Name)
		}
	}
	if slices.Contains(a.After, d.cmd.Instance) || slices.Contains(a.After, "") {
		return d.refuse(CodeInvalid, nil, "what it comes after are other instances")
	}
	first, _ := d.def.State(name)
	d.record(Opened{
		Workflow: d.def.Name, Definition: d.def.Hash, Issue: a.Issue, Base: a.Base, Bundle: a.Bundle, State: first.Name, Owner: first.Owner,
		Kind: first.Kind, Timeout: first.Timeout, Vars: a.Vars, After: a.After, Parent: a.Parent, Bundles: a.Bundles,
	})
	if err := d.onEntry(); err != nil {
		return err
	}
	return d.runAlways(true)
}
