package instance

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// End is how a linked instance ended.
type End struct {
	Instance string
	State    string
	Well     bool
}

// Spawned opens a child. The event is recorded first; the child is opened after it.
type Spawned struct {
	Instance string
	Workflow string
	State    string
	Reason   string
}

func (e Spawned) apply(in *Instance, _ Commit) {
	in.Links = appended(in.Links, Link{Instance: e.Instance, Kind: Child, Workflow: e.Workflow, State: e.State})
}

// LinkEnded records how a linked instance ended.
type LinkEnded struct {
	Instance string
	State    string
	Well     bool
}

func (e LinkEnded) apply(in *Instance, _ Commit) {
	in.Links = slices.Clone(in.Links)
	for i := range in.Links {
		if l := &in.Links[i]; l.Instance == e.Instance {
			l.Ended, l.Well, l.State = true, e.Well, e.State
		}
	}
}

// decide records how a linked instance ended and runs the state's reaction.
func (a End) decide(d *decision) error {
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

// onEntry runs the entry actions of the state: it opens children and asks
// questions.
func (d *decision) onEntry() error {
	state, _ := d.def.State(d.in.State)
	for _, s := range state.Spawns {
		ok, err := s.When.Holds(d.facts())
		if err != nil {
			return d.refuse(CodeUndecided, nil, "%s spawns: %v", state.Name, err)
		}
		if ok {
			d.record(Spawned{d.childID(s.Workflow), s.Workflow, s.State, d.def.Text(s.Reason)})
		}
	}
	for _, q := range state.Asks {
		ok, err := q.When.Holds(d.facts())
		if err != nil {
			return d.refuse(CodeUndecided, nil, "%s asks: %v", state.Name, err)
		}
		if ok {
			d.record(Asked{Number: len(d.in.Questions) + 1, From: cmp.Or(state.Owner, "orchestrator"), Text: d.def.Text(q.Text), To: q.To})
		}
	}
	return nil
}

// childID returns the id of the next child of a lifecycle.
func (d *decision) childID(lifecycle string) string {
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
