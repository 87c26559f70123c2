package instance

import (
	"maps"
	"slices"
)

// Remembered sets vars.
type Remembered struct{ Vars map[string]string }

func (e Remembered) apply(in *Instance, _ Commit) {
	in.Vars = merged(in.Vars, e.Vars)
}

// setVars records the declared vars among vars whose values change. It refuses
// values of the wrong type and ignores undeclared names.
func (d *decision) setVars(vars map[string]string) error {
	if len(vars) == 0 || len(d.def.Vars) == 0 {
		return nil
	}
	changed := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if _, declared := d.def.Vars[name]; !declared {
			continue
		}
		if _, ok := d.def.Var(name, vars[name]); !ok {
			return d.refuse(CodeInvalid, nil, "%s: %q is no %T", name, vars[name], d.def.Vars[name])
		}
		if old, ok := d.in.Vars[name]; !ok || old != vars[name] {
			changed[name] = vars[name]
		}
	}
	if len(changed) > 0 {
		d.record(Remembered{changed})
	}
	return nil
}
