package instance

import (
	"cmp"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Signal is a named event from outside.
type Signal struct {
	Name string
	Ref  string
	Data map[string]string
	// Evidence is what the sender checked, for guards to read.
	Evidence []Evidence
}

// Signalled is a signal from outside. Ref identifies it at its sender.
type Signalled struct {
	Name  string
	Actor string
	Ref   string
	Data  map[string]string

	Evidence []Evidence
}

func (e Signalled) apply(in *Instance, c Commit) {
	for _, ev := range e.Evidence {
		in.Evidence = replaceByName(in.Evidence, ev)
	}
	if body := e.Data["body"]; body != "" {
		in.Notes = appended(in.Notes, NoteEntry{e.Actor, e.Name, body, c.At})
	}
}

// decide records a signal from outside and runs the state's reaction to it. A
// paused instance reacts too: the sender does not repeat an answer.
func (a Signal) decide(d *decision) error {
	switch {
	case a.Name == "":
		return d.refuse(CodeInvalid, nil, "a signal needs a name")
	case reservedSignal(a.Name):
		return d.refuse(CodeInvalid, nil, "%s is the engine's own event, not a signal", a.Name)
	}
	if err := d.fromPeople("send signals"); err != nil {
		return err
	}
	s := speaker{role: workflow.Human, agent: d.cmd.Actor, state: d.in.State}
	evidence, refused := d.admitEvidence(s, a.Evidence)
	d.record(Signalled{a.Name, d.cmd.Actor, a.Ref, a.Data, evidence})
	d.record(refused...)
	if d.in.Closed != "" {
		return nil
	}
	vars, refused := d.admitVars(s, a.Data)
	d.record(refused...)
	if err := d.setVars(vars); err != nil {
		return err
	}
	if open, escalated := d.in.Escalation(); escalated {
		facts := d.withSignal(a.Name, a.Data)
		for _, r := range d.def.Resolves {
			if r.Signal != a.Name {
				continue
			}
			ok, err := r.When.Holds(facts)
			d.trace("resolves", workflow.Rule{Name: r.Signal, When: r.When}, facts, ok, err)
			if err != nil {
				return d.refuse(CodeUndecided, nil, "resolves %s: %v", a.Name, err)
			}
			if ok {
				return Resolve{open.Number, a.Data["body"]}.decide(d)
			}
		}
	}
	return d.react(a.Name, a.Data)
}

// reservedSignal reports whether only the engine raises a signal of this name.
func reservedSignal(name string) bool {
	switch name {
	case workflow.OnClaimed, workflow.OnEnded, workflow.OnWarning, workflow.OnAlert, workflow.OnEscalation:
		return true
	}
	return false
}

// withSignal returns a copy of the facts with a signal in them.
func (d *decision) withSignal(name string, data map[string]string) *workflow.Facts {
	facts := *d.facts()
	facts.Signal = workflow.SignalFacts{Name: name, Actor: d.cmd.Actor, Data: data}
	return &facts
}

// react executes the state's first rule for the signal whose guard holds. Without
// one it runs the always rules, which may read what the signal brought.
func (d *decision) react(name string, data map[string]string) error {
	return d.reactFor("", name, data)
}

// reactFor is react with another reason for the move, unless it is empty.
func (d *decision) reactFor(reason, name string, data map[string]string) error {
	state, _ := d.def.State(d.in.State)
	rules := state.On[name]
	if len(rules) == 0 {
		return d.runAlways(false)
	}
	facts := d.withSignal(name, data)
	for _, rule := range rules {
		ok, err := rule.When.Holds(facts)
		rule.Name = name
		d.trace("signal", rule, facts, ok, err)
		if err != nil {
			return d.refuse(CodeUndecided, nil, "%s on %s: %v", d.in.State, name, err)
		}
		if !ok {
			continue
		}
		rule.Name = "signal"
		if reservedSignal(name) {
			rule.Name = name
		}
		rule.Reason = cmp.Or(reason, rule.Reason)
		return d.execute(facts, rule)
	}
	return d.runAlways(false)
}
