package standing

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Explanation is why an instance stands where it is and what would move it.
type Explanation struct {
	Reasons []Reason  // the first counts most
	Help    []Action  // of all reasons, and the signals that move it
	Always  []Rule    // that need no result and no signal
	Results []Rule    // tried on a result
	Signals []Rule    // by signal
	Gates   []Rule    // of the moves from here
	Limits  []Rule    // that a move from here may reach
	Next    []string  // states that the table permits
	Refused []Refused // since it came here
}

// Rule is a rule of the definition, and what its guard reads now.
type Rule struct {
	Name   string         `json:"name"`   // of the signal, gate or limit; or always, result
	When   string         `json:"when"`   // guard; empty: always
	Values map[string]any `json:"values"` // that the guard reads, without those of a signal, or of a result that there is not
	To     []string       `json:"to"`     // target states; for a gate the guarded states
	Reason string         `json:"reason"`
	Stays  string         `json:"stays,omitempty"` // it stays; when the owner gets it again: now, signal, a time
	People bool           `json:"escalates,omitempty"`
	// Holds is whether the guard holds as the instance stands, null while that depends on a result or signal to come.
	Holds *bool  `json:"holds"`
	Fault string `json:"fault,omitempty"` // why the guard cannot be evaluated
}

// Explain returns the explanation of an instance under its definition at a time.
func Explain(def *workflow.Definition, in instance.Instance, past Past, now time.Time) Explanation {
	e := Explanation{Reasons: Of(in, past, now), Always: []Rule{}, Results: []Rule{}, Signals: []Rule{}, Gates: []Rule{}, Limits: []Rule{},
		Next: []string{}, Refused: some(past.Refused)}
	state, _ := def.State(in.State)
	if in.Closed == "" {
		e.Help = moves(state, e.Reasons)
		e.rules(def, state, in)
	}
	for _, r := range e.Reasons[:1] {
		e.Help = append(some(e.Help), r.Help...)
	}
	return e
}

// moves returns the signals that people may give to move an instance.
func moves(state workflow.State, reasons []Reason) (all []Action) {
	if slices.ContainsFunc(reasons, func(r Reason) bool { return r.Kind == After }) {
		for _, name := range slices.Backward(slices.Sorted(maps.Keys(state.On))) {
			if !engine(name) {
				all = append(all, Action{"signal", []string{name}})
			}
		}
	}
	if _, asks := state.On["approved"]; asks {
		all = append(all, Action{Verb: "approve", Args: []string{}})
	}
	return all
}

// engine reports whether the engine itself sends the signal.
func engine(signal string) bool {
	return slices.Contains([]string{workflow.OnClaimed, workflow.OnEnded, workflow.OnWarning, workflow.OnAlert, workflow.OnEscalation}, signal)
}

func (e *Explanation) rules(def *workflow.Definition, state workflow.State, in instance.Instance) {
	for _, t := range state.Next {
		e.Next = append(e.Next, t.To)
	}
	permitted := func(to []string) []string {
		return slices.DeleteFunc(slices.Clone(to), func(name string) bool { return !slices.Contains(e.Next, name) })
	}
	look := instance.Look(def, in)
	rule := func(name string, r workflow.Rule, unread ...string) Rule {
		out := Rule{Name: name, When: r.When.Source, To: r.To, Reason: def.Text(r.Reason), Stays: def.Text(r.Stay.Source), People: r.Escalate}
		holds, values, err := look(r.When)
		reads := func(name string, _ any) bool {
			return slices.ContainsFunc(unread, func(group string) bool { return strings.HasPrefix(name, group) })
		}
		known := len(values)
		maps.DeleteFunc(values, reads)
		switch out.Values = values; {
		case len(values) < known:
		case err != nil:
			out.Fault = err.Error()
		default:
			out.Holds = &holds
		}
		return out
	}
	for _, r := range state.Always {
		e.Always = append(e.Always, rule("always", r))
	}
	var unread []string
	if in.LastState != in.State {
		unread = []string{"result."} // the newest was reported in another state
	}
	for _, r := range state.Decide {
		e.Results = append(e.Results, rule("result", r, unread...))
	}
	for _, signal := range slices.Sorted(maps.Keys(state.On)) {
		for _, r := range state.On[signal] {
			e.Signals = append(e.Signals, rule(signal, r, "signal."))
		}
	}
	for _, g := range def.Gates {
		if to := permitted(g.To); len(to) > 0 {
			r := rule(g.Name, workflow.Rule{When: g.Require, To: to, Reason: g.Reason})
			if r.Holds != nil && *r.Holds {
				r.Reason = "" // it is that of a refusal
			}
			e.Gates = append(e.Gates, r)
		}
	}
	for _, l := range def.Limits {
		if to := permitted(l.To); len(to) > 0 || l.Escalate {
			l.To = to
			e.Limits = append(e.Limits, rule(l.Name, l))
		}
	}
}
