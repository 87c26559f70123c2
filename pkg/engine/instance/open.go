package instance

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Open starts an instance.
type Open struct {
	Issue  Issue
	Base   string // commit to start from, if known
	Bundle string // object that carries it
	State  string // one of the definition's entries; empty: the initial state
	Vars   map[string]string
	After  []string // instances that must end well first
	Parent string   // the instance that opens it
	// Bundles carry Base if one bundle does not: the oldest first, each with the git
	// commit it brings. An instance that continues another's work needs them.
	Bundles []Bundle
}

// Opened is the first event of an instance.
type Opened struct {
	Workflow   string
	Definition string // content hash
	Issue      Issue
	Base       string
	Bundle     string
	State      string
	Owner      string
	Kind       workflow.Kind
	Timeout    time.Duration // of State
	Vars       map[string]string
	After      []string
	Parent     string
	Bundles    []Bundle // in addition to Bundle
}

func (e Opened) apply(in *Instance, c Commit) {
	in.Workflow, in.Definition = e.Workflow, e.Definition
	in.Issue, in.OpenedAt = e.Issue, c.At
	in.Base, in.Head = e.Base, e.Base
	if e.Bundle != "" {
		in.Bundles = appended(in.Bundles, Bundle{Object: e.Bundle, Head: e.Base})
	}
	for _, b := range e.Bundles {
		in.Bundles = appended(in.Bundles, b)
	}
	in.Vars, in.Parent = e.Vars, e.Parent
	for _, id := range e.After {
		in.Links = appended(in.Links, Link{Instance: id, Kind: After})
	}
	in.enter(c, e.State, e.Owner, e.Kind, e.Timeout)
}

// decide records the first event of an instance and runs the entry of its state.
func (a Open) decide(d *decision) error {
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
		return d.refuse(CodeInvalid, nil, "an instance depends on other instances, not on itself")
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
