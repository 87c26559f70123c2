package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
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
	Tried    []Tried   `json:"tried"`   // guards that were evaluated, in their order
	Events   []Event   `json:"events"`
	// Otherwise says how this version decides the commit, if that is not as the record has it.
	Otherwise string `json:"otherwise,omitempty"`
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

// NewDecision returns the decision of a commit. in is the instance before it, events are those
// that this version decides.
func NewDecision(in instance.Instance, c instance.Commit, tried []instance.Tried, events []instance.Event, err error) Decision {
	d := Decision{Instance: in.ID, Seq: c.Seq, Time: c.At, Actor: c.Actor, State: in.State, Events: Events(in.ID, in.State, c), Tried: []Tried{}}
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
