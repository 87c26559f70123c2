package view

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Explanation says why an instance does not move and what would move it:
// `explain --json`.
type Explanation struct {
	Instance string   `json:"instance"`
	State    string   `json:"state"`
	About    string   `json:"about"` // what the state means
	Kind     string   `json:"kind"`
	Owner    string   `json:"owner"`
	Claim    *Claim   `json:"claim"`
	Why      string   `json:"why"`    // it does not move now
	Help     []string `json:"help"`   // commands that would do something about it
	Always   []Rule   `json:"always"` // moves nobody has to make
	Rules    []Rule   `json:"rules"`
	Signals  []Rule   `json:"signals"`
	Next     []string `json:"next"` // what the table permits from here
	Gates    []Rule   `json:"gates"`
	Limits   []Rule   `json:"limits"`
	Checks   []Check  `json:"checks"` // what guards may read of the world
	head     string
}

// Rule is what moves an instance, and when.
type Rule struct {
	Name   string         `json:"name"`   // of the signal, gate or limit
	When   string         `json:"when"`   // guard; empty: always
	Values map[string]any `json:"values"` // what the guard reads of instance, policy and spend, as it is now
	To     []string       `json:"to"`     // where it leads; for a gate what it guards
	Reason string         `json:"reason"`
	Stays  string         `json:"stays,omitempty"` // it does not move, and its owner looks again: now, signal, a time
	People bool           `json:"escalates,omitempty"`
}

// Explain reads the definition for the instance as it is now.
func Explain(env *term.Env, def *workflow.Definition, in Instance) Explanation {
	state, _ := def.State(in.State)
	e := Explanation{
		Instance: in.Instance, State: in.State, About: state.About, Kind: string(in.Kind), Owner: in.Owner, Claim: in.Claim,
		Always: []Rule{}, Rules: []Rule{}, Signals: []Rule{}, Next: []string{}, Gates: []Rule{}, Limits: []Rule{}, Checks: []Check{}, head: in.Head,
	}
	e.Why, e.Help = why(env, in)
	if e.Help == nil {
		e.Help = []string{}
	}
	if in.Closed != "" {
		return e
	}
	e.Checks = checks(in.Evidence)
	if _, asks := state.On["approved"]; asks {
		e.Help = append([]string{"signalbox approve " + in.Instance}, e.Help...)
	}
	for _, name := range slices.Sorted(maps.Keys(state.On)) {
		if in.waitingOn() != "" && !engine(name) {
			e.Help = append([]string{"signalbox signal " + in.Instance + " " + name}, e.Help...)
		}
	}
	values := in.values(def)
	rule := func(name string, guard workflow.Guard, to []string, reason string) Rule {
		return Rule{Name: name, When: guard.Source, Values: read(guard.Source, values), To: to, Reason: def.Text(reason)}
	}
	whole := func(name string, r workflow.Rule) Rule {
		out := rule(name, r.When, r.To, r.Reason)
		out.Stays, out.People = def.Text(r.Stay.Source), r.Escalate
		return out
	}
	for _, t := range state.Next {
		e.Next = append(e.Next, t.To)
	}
	permitted := func(to []string) []string {
		return slices.DeleteFunc(slices.Clone(to), func(name string) bool { return !slices.Contains(e.Next, name) })
	}
	for _, r := range state.Always {
		e.Always = append(e.Always, whole("always", r))
	}
	for _, r := range state.Decide {
		e.Rules = append(e.Rules, whole("result", r))
	}
	for _, signal := range slices.Sorted(maps.Keys(state.On)) {
		for _, r := range state.On[signal] {
			e.Signals = append(e.Signals, whole(signal, r))
		}
	}
	for _, g := range def.Gates {
		if to := permitted(g.To); len(to) > 0 {
			e.Gates = append(e.Gates, rule(g.Name, g.Require, to, g.Reason))
		}
	}
	for _, l := range def.Limits {
		if to := permitted(l.To); len(to) > 0 || l.Escalate {
			limit := whole(l.Name, l)
			limit.To = to
			e.Limits = append(e.Limits, limit)
		}
	}
	return e
}

// values is what guards can read that does not depend on a result or signal.
func (in Instance) values(def *workflow.Definition) map[string]any {
	repeats := 0
	if in.Failure != nil {
		repeats = in.Failure.Repeats
	}
	values := map[string]any{
		"instance.state": in.State, "instance.iteration": in.Iteration, "instance.returns": in.Returns, "instance.loop": in.Loop,
		"instance.repeats": repeats, "instance.head": in.Head, "instance.open_questions": len(in.Open()), "instance.failures": in.Failures[in.State], "instance.waiting_on": in.after(),
		"spend.tokens": in.Spend.TokensIn + in.Spend.TokensOut, "spend.usd": in.Spend.USD, "spend.wall_ms": in.Spend.WallMS,
	}
	for name, value := range def.Policy {
		values["policy."+name] = value
	}
	for name, value := range def.Vars {
		if text, ok := in.Vars[name]; ok {
			value = text
		}
		values["vars."+name] = value
	}
	return values
}

var names = regexp.MustCompile(`\b(?:instance|policy|spend|vars)\.\w+`)

// read picks the values a guard names.
func read(guard string, values map[string]any) map[string]any {
	found := map[string]any{}
	for _, name := range names.FindAllString(guard, -1) {
		if value, ok := values[name]; ok {
			found[name] = value
		}
	}
	return found
}

// engine tells the signals that the engine gives itself.
func engine(signal string) bool {
	return slices.Contains([]string{workflow.OnClaimed, workflow.OnEnded, workflow.OnWarning, workflow.OnAlert, workflow.OnEscalation}, signal)
}

// Print prints the explanation for people, or as JSON.
func (e Explanation) Print(env *term.Env) error {
	if env.JSON {
		return env.Print(e)
	}
	p := page{env}
	env.Printf("%s  %s  %s\n%s\n", env.Paint(term.Bold, term.Line(e.Instance)), env.Paint(term.Place, e.State), term.Line(e.About), term.Text(e.Why))
	p.field("try", strings.Join(e.Help, "\n"))
	p.rules("always", e.Always)
	p.rules("on a result", e.Rules)
	p.rules("on a signal", e.Signals)
	p.field("permitted", strings.Join(e.Next, ", "))
	p.rules("gates", e.Gates)
	p.rules("limits", e.Limits)
	p.checks(e.Checks, e.head)
	return nil
}

// rules writes one line a rule.
func (p page) rules(title string, rules []Rule) {
	for i, r := range rules {
		name := ""
		if i == 0 {
			name = title
		}
		text := "→ " + strings.Join(r.To, " or ")
		switch {
		case r.People:
			text = "people are asked"
		case r.Stays != "":
			text = "stays, and looks again: " + r.Stays
		}
		if r.Name != "result" && r.Name != "always" {
			text = r.Name + " " + text
		}
		if r.Reason != "" {
			text += ": " + r.Reason
		}
		if r.When != "" {
			text += "\n  when " + term.Line(r.When)
		}
		for _, key := range slices.Sorted(maps.Keys(r.Values)) {
			text += "\n  " + key + " is " + value(r.Values[key])
		}
		p.field(name, text)
	}
}
