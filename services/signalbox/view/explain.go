package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/triage"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/standing"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Explanation is the JSON of `explain`: why an instance does not move and what would
// move it.
type Explanation struct {
	Instance string `json:"instance"`
	State    string `json:"state"`
	About    string `json:"about"` // the description of the state
	Kind     string `json:"kind"`
	Owner    string `json:"owner"`
	Claim    *Claim `json:"claim"`
	Why      string `json:"why"` // the reason that it does not move
	// Reasons are all that keep it there, or the work under way, the one that counts most first.
	Reasons []standing.Reason `json:"reasons"`
	// Refused are the statements, proposals and moves that were refused since it came here.
	Refused      []standing.Refused `json:"refused"`
	NextDeadline *Deadline          `json:"next_deadline"` // null: none
	// Questions are those that people have not answered, with their numbers.
	Questions []instance.Question `json:"questions"`
	Help      []string            `json:"help"`   // commands that may help
	Always    []standing.Rule     `json:"always"` // rules that need no result and no signal
	Rules     []standing.Rule     `json:"rules"`
	Signals   []standing.Rule     `json:"signals"`
	Next      []string            `json:"next"` // states that the table permits
	Gates     []standing.Rule     `json:"gates"`
	Limits    []standing.Rule     `json:"limits"`
	Checks    []Check             `json:"checks"` // evidence that guards may read
	// Proof is whether tests show the change to be a solution; empty: there is no change.
	Proof  string `json:"proof"`
	Failed string `json:"failed"` // what failed last, with the first lines of it; empty: nothing did
	// Templates are those of prompts that are not used, because something is wrong with them.
	Templates []Template `json:"templates"`
	// Configured is what the configuration of the repository is that it goes by, and what is
	// wrong with a newer one; empty: it has none.
	Configured string `json:"configured"`
	// Shape is what a careful reader would stop at in the change; empty: nothing.
	Shape string `json:"shape"`
	// Triage is the kind of the issue and its likely duplicates; its kind is empty if it had none.
	Triage triage.Finding `json:"triage"`
	head   string
}

// Explain returns the explanation of an instance under its definition.
func Explain(env *term.Env, def *workflow.Definition, in Instance) Explanation {
	state, _ := def.State(in.State)
	e := Explanation{
		Instance: in.Instance, State: in.State, About: state.About, Kind: string(in.Kind), Owner: in.Owner, Claim: in.Claim,
		Always: []standing.Rule{}, Rules: []standing.Rule{}, Signals: []standing.Rule{}, Next: []string{}, Gates: []standing.Rule{}, Limits: []standing.Rule{}, Checks: []Check{},
		head: in.Head,
	}
	of := standing.Explain(def, in.whole, in.past, env.Now())
	e.Reasons, e.Refused, e.Why, e.NextDeadline = of.Reasons, of.Refused, of.Reasons[0].Sentence(clock(env)), in.NextDeadline
	e.Always, e.Rules, e.Signals, e.Gates, e.Limits, e.Next = of.Always, of.Results, of.Signals, of.Gates, of.Limits, of.Next
	e.Help = commands(in.Instance, of.Help)
	e.Questions = some(in.Open())
	e.Proof = in.proof.Sentence()
	e.Failed, e.Templates, e.Configured = in.failedLast(), in.templates(), in.configured()
	for _, n := range in.Notes { // the newest comes last
		switch n.Kind {
		case work.Shape:
			e.Shape = n.Text
		case triage.Note:
			e.Triage = triage.Parse(n.Text)
		}
	}
	e.Triage.Labels, e.Triage.Duplicates = some(e.Triage.Labels), some(e.Triage.Duplicates)
	if in.Closed == "" {
		e.Checks = checks(in.Evidence)
	}
	return e
}

// commands returns actions as they are typed.
func commands(id string, all []standing.Action) []string {
	return list(all, func(a standing.Action) string { return a.Command(id) })
}

// failedLast describes the newest result if it was none, and the newest run of tests if
// it failed on the code as it is.
func (in Instance) failedLast() string {
	var said []string
	if r := in.LastResult; r != nil && r.Status != instance.Success {
		said = append(said, fmt.Sprintf("%s in %s: %s", r.Status, in.LastState, r.Summary))
		for _, issue := range r.IssuesFound {
			if !strings.Contains(r.Summary, issue) {
				said = append(said, "- "+issue)
			}
		}
	}
	for _, e := range in.Evidence {
		if e.OK || e.Commit != in.Head || e.Command == "" || e.Name == work.Red || e.Name == work.Base {
			continue
		}
		said = append(said, fmt.Sprintf("%s: %s ended with exit code %d on %s", e.Name, e.Command, e.ExitCode, short(e.Commit)))
		for i, name := range e.Failed {
			if i == maxFailed {
				said = append(said, fmt.Sprintf("and %d more", len(e.Failed)-i))
				break
			}
			said = append(said, "✗ "+name)
		}
		if e.Output != "" {
			said = append(said, beginning(e.Output))
		}
	}
	return strings.Join(said, "\n")
}

// Why returns in a sentence why the instance does not move, and commands that help.
func Why(env *term.Env, in Instance) (string, []string) {
	first := standing.Of(in.whole, in.past, env.Now())[0]
	return first.Sentence(clock(env)), commands(in.Instance, first.Help)
}

// WaitsForPeople reports whether only people can move the instance.
func (in Instance) WaitsForPeople() bool { return in.whole.WaitsForPeople() }

// Print prints the explanation, with guards the guards of the rules, too, and the values that
// they read.
func (e Explanation) Print(env *term.Env, guards bool) error {
	if env.JSON {
		return env.Print(e)
	}
	p := page{env}
	env.Printf("%s  %s\n%s\n%s\n", env.Paint(term.Bold, term.Line(e.Instance)), env.Paint(term.Place, e.State),
		term.Wrap(term.Line(e.About), env.Width), term.Wrap(term.Text(e.Why), env.Width))
	for i, q := range e.Questions {
		name := ""
		if i == 0 {
			name = "asks"
		}
		p.field(name, fmt.Sprintf("Q%d. %s", q.Number, q.Text))
		for _, line := range FormLines(q) {
			p.field("", "   "+line)
		}
	}
	p.field("kind", e.Triage.Sentence())
	for _, m := range e.Triage.Duplicates {
		p.field("may repeat", m.Sentence())
	}
	p.field("proof", e.Proof)
	p.field("failed last", e.Failed)
	p.field("look at", strings.ReplaceAll(e.Shape, "; ", "\n"))
	p.templates(e.Templates)
	p.field("configured", e.Configured)
	p.field("try", strings.Join(e.Help, "\n"))
	p.rules("always", e.Always, guards)
	p.rules("on a result", e.Rules, guards)
	p.rules("on a signal", e.Signals, guards)
	p.field("permitted", strings.Join(e.Next, ", "))
	p.rules("gates", e.Gates, guards)
	p.rules("limits", e.Limits, guards)
	for i, r := range e.Refused {
		p.field(map[bool]string{true: "refused"}[i == 0], fmt.Sprintf("%d %s: %s", r.Seq, r.Kind, r.Reason))
	}
	p.checks(e.Checks, e.head)
	return nil
}

// rules writes a line for each rule, with guards its guard and the values that it reads, too.
func (p page) rules(title string, rules []standing.Rule, guards bool) {
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
		if title == "gates" && r.Holds != nil {
			text = map[bool]string{true: "✓ ", false: "✗ "}[*r.Holds] + text
		}
		if !guards {
			p.field(name, text)
			continue
		}
		if r.When != "" {
			text += "\n  when " + term.Line(r.When) + now(r)
		}
		for _, key := range slices.Sorted(maps.Keys(r.Values)) {
			text += "\n  " + key + " is " + formatValue(r.Values[key])
		}
		p.field(name, text)
	}
}

// now states whether the guard of a rule holds, where that does not depend on a result or signal to come.
func now(r standing.Rule) string {
	switch {
	case r.Fault != "":
		return ": " + term.Line(r.Fault)
	case r.Holds == nil:
		return ""
	}
	return map[bool]string{true: " (holds)", false: " (does not hold)"}[*r.Holds]
}
