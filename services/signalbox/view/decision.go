package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Decision is the JSON of `explain --seq`: why a commit of the record has its events.
type Decision struct {
	Instance string    `json:"instance"`
	Seq      uint64    `json:"seq"`
	Time     time.Time `json:"time"`
	Actor    string    `json:"actor"`
	Command  string    `json:"command"` // the kind of command that the commit carried out
	State    string    `json:"state"`   // before it
	Result   string    `json:"result"`  // the status of the result that was reported, with its confidence; empty: none was
	Cites    []string  `json:"cites"`   // the evidence that the decision is based on
	Refused  []string  `json:"refused"` // statements, proposals and moves that were refused
	Tried    []Tried   `json:"tried"`   // guards that were evaluated, in their order
	Events   []Event   `json:"events"`
	// Otherwise says how this version decides the commit, if that is not as the record has it.
	Otherwise string `json:"otherwise,omitempty"`
	// Then is why the instance did not move on after it, and Help what would have moved it.
	Then string   `json:"then"`
	Help []string `json:"help"`
}

// Tried is a guard that was evaluated.
type Tried struct {
	Kind   string         `json:"kind"` // result, signal, always, resolves, gate or limit
	Name   string         `json:"name,omitempty"`
	When   string         `json:"when,omitempty"`
	To     []string       `json:"to,omitempty"`
	Reason string         `json:"reason,omitempty"`
	Held   bool           `json:"held"`
	Fault  string         `json:"fault,omitempty"`
	Values map[string]any `json:"values,omitempty"`
}

// Decided returns the decision of a commit under its definition. in is the instance before it.
func Decided(env *term.Env, def *workflow.Definition, in instance.Instance, c instance.Commit) Decision {
	tried, events, err := instance.Trace(def, in, c)
	d := newDecision(in, c, tried, events, err)
	then := *env
	then.Now = func() time.Time { return c.At } // durations count up to then
	after := instance.Evolve(in, c)
	e := Explain(&then, def, Of(wire.FullView(after)))
	d.Then, d.Help = e.Why, e.Help
	for i, name := range d.Cites {
		for _, ev := range after.Evidence {
			if ev.Name == name {
				d.Cites[i] = fmt.Sprintf("%s on %s%s: %s, %d passed, %d failed", name, short(ev.Commit), madeBy(ev), ev.EffectiveVerdict(), ev.Passed, len(ev.Failed))
			}
		}
	}
	return d
}

// newDecision returns the decision of a commit. events are those that this version decides.
func newDecision(in instance.Instance, c instance.Commit, tried []instance.Tried, events []instance.Event, err error) Decision {
	d := Decision{Instance: in.ID, Seq: c.Seq, Time: c.At, Actor: c.Actor, State: in.State, Events: Events(in.ID, in.State, c), Tried: []Tried{},
		Cites: []string{}, Refused: []string{}, Help: []string{}}
	for _, e := range d.Events {
		switch e.Event {
		case "reported":
			d.Result = fmt.Sprintf("%s, confidence %g", e.Result.Status, e.Result.ConfidenceScore)
		case "moved":
			d.Cites = append(d.Cites, e.Cites...)
		case "statement_refused", "proposal_refused", "gate_refused":
			d.Refused = append(d.Refused, e.Reason)
		}
	}
	if cmd, ok := instance.Recorded(in, c); ok {
		d.Command = strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", cmd.Do), "instance."))
	}
	for _, t := range tried {
		d.Tried = append(d.Tried, Tried{t.Kind, t.Name, t.When, t.To, t.Reason, t.Held, t.Fault, t.Values})
	}
	again := moved(events)
	switch was := moved(c.Events); {
	case err != nil:
		d.Otherwise = "this version refuses it: " + err.Error()
	case again != was:
		d.Otherwise = fmt.Sprintf("this version moves it to %s", again)
	}
	return d
}

// moved returns the states that events move an instance to.
func moved(events []instance.Event) string {
	var to []string
	for _, e := range events {
		if e, ok := e.(instance.Moved); ok {
			to = append(to, e.To)
		}
	}
	if len(to) == 0 {
		return "no other state"
	}
	return strings.Join(to, ", then ")
}

// Print prints the decision: the command, the guards with the values that they read, the events.
func (d Decision) Print(env *term.Env) error {
	if env.JSON {
		return env.Print(d)
	}
	env.Printf("%s  commit %d, %s\n", env.Paint(term.Bold, term.Line(d.Instance)), d.Seq, d.Time.UTC().Format("2006-01-02 15:04:05 UTC"))
	p := page{env}
	p.field("command", d.Command+" of "+d.Actor)
	p.field("before", d.State)
	p.field("result", d.Result)
	for i, t := range d.Tried {
		name := ""
		if i == 0 {
			name = "tried"
		}
		p.field(name, t.text())
	}
	if len(d.Tried) == 0 {
		p.field("tried", "no guard: the command alone decides")
	}
	p.field("cites", strings.Join(d.Cites, "\n"))
	p.field("refused", strings.Join(d.Refused, "\n"))
	for i, e := range d.Events {
		name := ""
		if i == 0 {
			name = "decided"
		}
		text := e.headline(env)
		if e.Reason != "" {
			text += ": " + term.Line(e.Reason)
		}
		p.field(name, text)
	}
	p.field("but", d.Otherwise)
	p.field("then", d.Then)
	p.field("moved by", strings.Join(d.Help, "\n"))
	return nil
}

// text is a guard in a few lines: what it decides about, whether it held, and what it read.
func (t Tried) text() string {
	held := "does not hold"
	if t.Held {
		held = "holds"
	}
	if t.Fault != "" {
		held = "cannot be evaluated: " + t.Fault
	}
	about := strings.TrimSpace(t.Kind + " " + t.Name)
	if len(t.To) > 0 {
		about += " → " + strings.Join(t.To, " or ")
	}
	text := about + ": " + held
	if t.When == "" {
		return about + ": holds, whatever the facts"
	}
	text += "\n  when " + term.Line(t.When)
	for _, name := range slices.Sorted(maps.Keys(t.Values)) {
		text += "\n  " + name + " is " + cut(term.Line(fmt.Sprint(t.Values[name])), 100)
	}
	return text
}
