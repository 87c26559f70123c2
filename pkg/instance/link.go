package instance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// end records how a linked instance ended, and does what the state says to it.
func (d *decision) linkEnded(a End) error {
	i := slices.IndexFunc(d.in.Links, func(l Link) bool { return l.Instance == a.Instance })
	if i < 0 {
		var linked []string
		for _, l := range d.in.Links {
			linked = append(linked, l.Instance)
		}
		return d.refuse(CodeInvalid, linked, "%s is not linked to it", a.Instance)
	}
	if d.in.Links[i].Ended {
		return d.refuse(CodeStale, nil, "the end of %s is known", a.Instance)
	}
	d.record(LinkEnded{a.Instance, a.State, a.Well})
	if d.in.Closed != "" {
		return nil
	}
	return d.react(workflow.OnEnded, map[string]string{"instance": a.Instance, "state": a.State, "well": strconv.FormatBool(a.Well)})
}

// enter does what the state says to whoever comes in: it asks and it spawns.
func (d *decision) onEntry() error {
	state, _ := d.def.State(d.in.State)
	for _, s := range state.Spawns {
		ok, err := s.When.Holds(d.facts())
		if err != nil {
			return d.refuse(CodeUndecided, nil, "%s spawns: %v", state.Name, err)
		}
		if ok {
			d.record(Spawned{d.child(s.Workflow), s.Workflow, s.State, d.def.Text(s.Reason)})
		}
	}
	for _, q := range state.Asks {
		ok, err := q.When.Holds(d.facts())
		if err != nil {
			return d.refuse(CodeUndecided, nil, "%s asks: %v", state.Name, err)
		}
		if ok {
			d.record(Asked{len(d.in.Questions) + 1, cmp.Or(state.Owner, "orchestrator"), d.def.Text(q.Text), q.To})
		}
	}
	return nil
}

// child is the id of the next instance of a lifecycle that this one opens.
func (d *decision) child(lifecycle string) string {
	id, n := fmt.Sprintf("%s/%s", d.in.ID, lifecycle), 1
	for _, l := range d.in.Links {
		if l.Kind == Child && l.Workflow == lifecycle {
			n++
		}
	}
	if n > 1 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return id
}

// remember sets vars: what a rule says, and what a result or signal has of them.
func (d *decision) setVars(vars map[string]string) error {
	if len(vars) == 0 || len(d.def.Vars) == 0 {
		return nil
	}
	known := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if _, declared := d.def.Vars[name]; !declared {
			continue
		}
		if _, ok := d.def.Var(name, vars[name]); !ok {
			return d.refuse(CodeInvalid, nil, "%s: %q is no %T", name, vars[name], d.def.Vars[name])
		}
		if now, ok := d.in.Vars[name]; !ok || now != vars[name] {
			known[name] = vars[name]
		}
	}
	if len(known) > 0 {
		d.record(Remembered{known})
	}
	return nil
}
