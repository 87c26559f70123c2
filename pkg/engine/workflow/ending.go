package workflow

import "slices"

// EndsInFailure reports whether the state is final and only failures lead there: rules
// that record one, and limits. A state that no rule leads to is no such state.
func (d *Definition) EndsInFailure(name string) bool {
	if s, ok := d.State(name); !ok || s.Kind != Final {
		return false
	}
	leads := func(r Rule) bool { return slices.Contains(r.To, name) }
	found := slices.ContainsFunc(d.Limits, leads)
	for _, s := range d.States {
		for _, list := range s.rules() {
			for _, r := range list {
				if leads(r) && !r.Failure {
					return false
				}
				found = found || leads(r)
			}
		}
	}
	return found
}
