package view

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
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
	Why      string   `json:"why"`  // it does not move now
	Help     []string `json:"help"` // commands that would do something about it
	Rules    []Rule   `json:"rules"`
	Signals  []Rule   `json:"signals"`
	Next     []string `json:"next"` // what the table permits from here
	Gates    []Rule   `json:"gates"`
	Limits   []Rule   `json:"limits"`
}

// Rule is what moves an instance, and when.
type Rule struct {
	Name   string         `json:"name"`   // of the signal, gate or limit
	When   string         `json:"when"`   // guard; empty: always
	Values map[string]any `json:"values"` // what the guard reads of instance, policy and spend, as it is now
	To     []string       `json:"to"`     // where it leads; for a gate what it guards
	Reason string         `json:"reason"`
}

// Explain reads the definition for the instance as it is now.
func Explain(env *term.Env, def *workflow.Definition, in Instance) Explanation {
	state, _ := def.State(in.State)
	e := Explanation{
		Instance: in.Instance, State: in.State, About: state.About, Kind: string(in.Kind), Owner: in.Owner, Claim: in.Claim,
		Rules: []Rule{}, Signals: []Rule{}, Next: []string{}, Gates: []Rule{}, Limits: []Rule{},
	}
	e.Why, e.Help = why(env, in)
	if e.Help == nil {
		e.Help = []string{}
	}
	if in.Closed != "" {
		return e
	}
	values := in.values(def)
	rule := func(name string, guard workflow.Guard, to []string, reason string) Rule {
		return Rule{name, guard.Source, read(guard.Source, values), to, reason}
	}
	for _, t := range state.Next {
		e.Next = append(e.Next, t.To)
	}
	permitted := func(to []string) []string {
		return slices.DeleteFunc(slices.Clone(to), func(name string) bool { return !slices.Contains(e.Next, name) })
	}
	for _, r := range state.Decide {
		e.Rules = append(e.Rules, rule("result", r.When, r.To, r.Reason))
	}
	for _, signal := range slices.Sorted(maps.Keys(state.On)) {
		for _, r := range state.On[signal] {
			e.Signals = append(e.Signals, rule(signal, r.When, r.To, r.Reason))
		}
	}
	for _, g := range def.Gates {
		if to := permitted(g.To); len(to) > 0 {
			e.Gates = append(e.Gates, rule(g.Name, g.Require, to, g.Reason))
		}
	}
	for _, l := range def.Limits {
		if to := permitted(l.To); len(to) > 0 {
			e.Limits = append(e.Limits, rule(l.Name, l.When, to, l.Reason))
		}
	}
	return e
}

// why says in a sentence what stands in the way, and which commands help.
func why(env *term.Env, in Instance) (string, []string) {
	help := func(commands ...string) []string {
		for i, c := range commands {
			verb, rest, _ := strings.Cut(c, " ")
			commands[i] = strings.TrimRight("signalbox "+verb+" "+in.Instance+" "+rest, " ")
		}
		return commands
	}
	switch {
	case in.Closed == instance.Cancelled:
		return "It was cancelled: " + in.Reason + ". Nothing moves it any more.", nil
	case in.Closed != "":
		return "It has ended: " + in.Reason + ". Nothing moves it any more.", nil
	case in.Paused:
		return "It is paused: " + in.Reason + ". Nobody is given its work until it is resumed.", help("resume", "cancel")
	case in.Kind == workflow.Wait:
		return fmt.Sprintf("It has waited for people for %s, with %s open.", env.Since(in.EnteredAt), Count(len(in.Open()), "question")), help("answer TEXT", "cancel")
	case in.Working(env.Now()):
		return fmt.Sprintf("%s took the work %s ago; its lease runs for %s more and is renewed for as long as the agent lives.",
			in.Claim.Agent, env.Since(in.Claim.At), term.Duration(in.Claim.Lease.Sub(env.Now()))), help("pause")
	case in.Claim != nil:
		return fmt.Sprintf("%s took it %s ago and went silent: its lease ran out %s ago. The work goes to the next %s that is free.",
			in.Claim.Agent, env.Since(in.Claim.At), env.Since(in.Claim.Lease), in.Owner), help("retry")
	}
	text := fmt.Sprintf("Nobody has taken the work for %s: no %s runs, or all have other work.", env.Since(in.EnteredAt), in.Owner)
	if in.Faults > 0 {
		text += fmt.Sprintf(" The work came back %s because of the machinery.", times(in.Faults))
	}
	return text, append(help("retry"), "signalbox doctor")
}

// values is what guards can read that does not depend on a result or signal.
func (in Instance) values(def *workflow.Definition) map[string]any {
	repeats := 0
	if in.Failure != nil {
		repeats = in.Failure.Repeats
	}
	values := map[string]any{
		"instance.state": in.State, "instance.iteration": in.Iteration, "instance.returns": in.Returns, "instance.loop": in.Loop,
		"instance.repeats": repeats, "instance.head": in.Head, "instance.open_questions": len(in.Open()),
		"spend.tokens": in.Spend.TokensIn + in.Spend.TokensOut, "spend.usd": in.Spend.USD, "spend.wall_ms": in.Spend.WallMS,
	}
	for name, value := range def.Policy {
		values["policy."+name] = value
	}
	return values
}

var names = regexp.MustCompile(`\b(?:instance|policy|spend)\.\w+`)

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

// Print prints the explanation for people, or as JSON.
func (e Explanation) Print(env *term.Env) error {
	if env.JSON {
		return env.Print(e)
	}
	p := page{env}
	env.Printf("%s  %s  %s\n%s\n", env.Paint(term.Bold, term.Line(e.Instance)), env.Paint(term.Place, e.State), term.Line(e.About), term.Text(e.Why))
	p.field("try", strings.Join(e.Help, "\n"))
	p.rules("on a result", e.Rules)
	p.rules("on a signal", e.Signals)
	p.field("permitted", strings.Join(e.Next, ", "))
	p.rules("gates", e.Gates)
	p.rules("limits", e.Limits)
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
		if r.Name != "result" {
			text = r.Name + " " + text
		}
		if r.Reason != "" {
			text += ": " + r.Reason
		}
		if r.When != "" {
			text += "\n  when " + term.Line(r.When)
		}
		for _, key := range slices.Sorted(maps.Keys(r.Values)) {
			text += fmt.Sprintf("\n  %s is %v", key, r.Values[key])
		}
		p.field(name, text)
	}
}
