package instance

import "github.com/signalbox/signalbox/pkg/engine/workflow"

// Tried is a guard that a decision evaluated.
type Tried struct {
	Kind   string   // result, signal, always, resolves, gate or limit
	Name   string   // of the signal, gate or limit
	When   string   // the guard; empty: it always holds
	To     []string // target states; of a gate those that it guards
	Reason string
	Held   bool
	Fault  string         // why the guard could not be evaluated
	Values map[string]any // that the guard read, by the names in it
}

// Trace decides a commit of the log once more, as Redecide does, and returns the guards that
// the decision evaluated, in their order. So it says why the commit has its events.
func Trace(def *workflow.Definition, in Instance, c Commit) ([]Tried, []Event, error) {
	cmd, ok := Recorded(in, c)
	if !ok {
		return nil, nil, ErrNoCommand
	}
	tried := []Tried{}
	d := decision{def: def, in: in, cmd: cmd, tried: &tried}
	if err := d.precheck(); err != nil {
		return nil, nil, err
	}
	err := cmd.Do.decide(&d)
	return tried, d.events, err
}

// trace keeps a guard that was evaluated, if this decision is traced.
func (d *decision) trace(kind string, rule workflow.Rule, facts *workflow.Facts, held bool, err error) {
	if d.tried == nil {
		return
	}
	t := Tried{Kind: kind, Name: rule.Name, When: rule.When.Source, To: rule.To, Reason: d.def.Text(rule.Reason), Held: held}
	if facts == nil {
		facts = d.facts()
	}
	if t.Values = rule.When.Values(facts); err != nil {
		t.Fault = err.Error()
	}
	*d.tried = append(*d.tried, t)
}

// Look returns a function that evaluates a guard as the instance stands, and has the values that it reads.
func Look(def *workflow.Definition, in Instance) func(workflow.Guard) (holds bool, values map[string]any, err error) {
	d := decision{def: def, in: in}
	return func(g workflow.Guard) (bool, map[string]any, error) {
		holds, err := d.holds(g, nil)
		return holds, g.Values(d.facts()), err
	}
}
