package app

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/dispatch"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// limits reads AtOnce. A state or a role that no lifecycle has is an error.
func (s Settings) limits(defs []*workflow.Definition) (all []dispatch.Limit, err error) {
	var states, roles []string
	for _, d := range defs {
		states, roles = append(states, d.StateNames()...), append(roles, d.Roles()...)
	}
	for _, text := range s.AtOnce {
		l, err := dispatch.ParseLimit(text)
		if err == nil {
			err = cmp.Or(known("state", l.State, states), known("role", l.Role, roles))
		}
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// known returns an error if a name is given that is none of those there are.
func known(what, name string, all []string) error {
	if name == "" || slices.Contains(all, name) {
		return nil
	}
	if meant := workflow.Nearest(name, all); meant != "" {
		return fmt.Errorf("no lifecycle has a %s %q; did you mean %q?", what, name, meant)
	}
	return fmt.Errorf("no lifecycle has a %s %q", what, name)
}
