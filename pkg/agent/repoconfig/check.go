package repoconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/engine/yamlfile"
)

// Operator is what the operator has set, as far as a file can ask for it.
type Operator struct {
	Definitions []*workflow.Definition // that there are
	// Lifecycles are the names that new issues may open with; * permits all. Nil: nothing is
	// said of that.
	Lifecycles []string
}

// CommandNames returns the names of the commands that people can give in comments.
func CommandNames() []string {
	return []string{"answer", "approve", "budget", "cancel", "explain", "help", "hold", "merge", "pause", "plan", "rebase",
		"resume", "retry", "status", "unhold"}
}

// Check returns an error that joins a workflow.Problem for each thing that the file asks
// for in vain. There is no such thing, or only the operator sets it.
func (c Config) Check(o Operator) error {
	var all []error
	add := func(key, text, meant string) {
		all = append(all, workflow.Problem{At: c.places[key], Text: text, Meant: meant})
	}
	named := func(key, what, name string, known []string) {
		if name != "" && !slices.Contains(known, name) {
			add(key, fmt.Sprintf("unknown %s %s", what, yamlfile.Quoted(name)), workflow.Nearest(name, known))
		}
	}
	names := names(slices.DeleteFunc(slices.Clone(o.Definitions), record))
	named("lifecycle", "lifecycle", c.Lifecycle, names)
	if c.Lifecycle != "" && slices.Contains(names, c.Lifecycle) && o.Lifecycles != nil && !permitted(o.Lifecycles, c.Lifecycle) {
		add("lifecycle", fmt.Sprintf("the operator does not permit the lifecycle %s here; permitted: %s (--repo-workflow)", c.Lifecycle,
			strings.Join(o.Lifecycles, ", ")), "")
	}
	for _, name := range sorted(c.Policy) {
		if text, meant := wrongPolicy(o.Definitions, name, c.Policy[name]); text != "" {
			add("policy."+name, text, meant)
		}
	}
	for _, name := range sorted(c.Commands) {
		named("commands."+name, "command", name, append(CommandNames(), Others))
	}
	for _, key := range sorted(c.Labels) {
		if c.Label != "" && strings.EqualFold(c.Labels[key], c.Label) {
			add("labels."+key, fmt.Sprintf("the label %s has issues taken up: triage may not set it", c.Label), "")
		}
	}
	states, roles := statesAndRoles(o.Definitions)
	for i, l := range c.Limits {
		key := fmt.Sprintf("limits.%d", i)
		named(key, "state", l.State, states)
		named(key, "role", l.Role, roles)
	}
	for i, b := range c.Days {
		named(fmt.Sprintf("budget.day.%d", i), "role", b.Role, roles)
	}
	return errors.Join(all...)
}

func permitted(patterns []string, name string) bool {
	return slices.Contains(patterns, "*") || slices.Contains(patterns, name)
}

// wrongPolicy returns the fault of a value under every definition that has the policy.
func wrongPolicy(defs []*workflow.Definition, name, value string) (text, meant string) {
	var known []string
	found := false
	for _, d := range defs {
		known = append(known, sorted(d.Policy)...)
		_, has := d.Policy[name]
		if !has && name != usd && name != tokens {
			continue
		}
		found = true
		if err := d.Narrows(name, value); err == nil {
			return "", ""
		} else if text == "" {
			text = err.Error()
		}
	}
	if !found && len(defs) > 0 {
		return "unknown policy " + yamlfile.Quoted(name), workflow.Nearest(name, known)
	}
	return text, ""
}

func names(defs []*workflow.Definition) (all []string) {
	for _, d := range defs {
		all = append(all, d.Name)
	}
	slices.Sort(all)
	return all
}

// record reports whether a lifecycle is of records: what opens with it has ended.
func record(d *workflow.Definition) bool {
	s, _ := d.State(d.Initial)
	return s.Kind == workflow.Final
}

func statesAndRoles(defs []*workflow.Definition) (states, roles []string) {
	for _, d := range defs {
		states, roles = append(states, d.StateNames()...), append(roles, d.Roles()...)
	}
	return states, roles
}

func sorted[V any](m map[string]V) []string {
	all := make([]string, 0, len(m))
	for name := range m {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
