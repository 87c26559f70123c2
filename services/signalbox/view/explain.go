package view

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/triage"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/ledger"
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
	// Questions are those that people have not answered, with their numbers.
	Questions []instance.Question `json:"questions"`
	Help      []string            `json:"help"`   // commands that may help
	Always    []Rule              `json:"always"` // rules that need no result and no signal
	Rules     []Rule              `json:"rules"`
	Signals   []Rule              `json:"signals"`
	Next      []string            `json:"next"` // states that the table permits
	Gates     []Rule              `json:"gates"`
	Limits    []Rule              `json:"limits"`
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

// Rule is a rule of the definition, and what its guard reads now.
type Rule struct {
	Name   string         `json:"name"`   // of the signal, gate or limit; or always, result
	When   string         `json:"when"`   // guard; empty: always
	Values map[string]any `json:"values"` // the values that the guard names, without those of a result or signal
	To     []string       `json:"to"`     // target states; for a gate the guarded states
	Reason string         `json:"reason"`
	Stays  string         `json:"stays,omitempty"` // it stays; when the owner gets it again: now, signal, a time
	People bool           `json:"escalates,omitempty"`
}

// Explain returns the explanation of an instance under its definition.
func Explain(env *term.Env, def *workflow.Definition, in Instance) Explanation {
	state, _ := def.State(in.State)
	e := Explanation{
		Instance: in.Instance, State: in.State, About: state.About, Kind: string(in.Kind), Owner: in.Owner, Claim: in.Claim,
		Always: []Rule{}, Rules: []Rule{}, Signals: []Rule{}, Next: []string{}, Gates: []Rule{}, Limits: []Rule{}, Checks: []Check{},
		head: in.Head,
	}
	e.Why, e.Help = Why(env, in)
	e.Questions = some(in.Open())
	if e.Help == nil {
		e.Help = []string{}
	}
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
	withStay := func(name string, r workflow.Rule) Rule {
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
		e.Always = append(e.Always, withStay("always", r))
	}
	for _, r := range state.Decide {
		e.Rules = append(e.Rules, withStay("result", r))
	}
	for _, signal := range slices.Sorted(maps.Keys(state.On)) {
		for _, r := range state.On[signal] {
			e.Signals = append(e.Signals, withStay(signal, r))
		}
	}
	for _, g := range def.Gates {
		if to := permitted(g.To); len(to) > 0 {
			e.Gates = append(e.Gates, rule(g.Name, g.Require, to, g.Reason))
		}
	}
	for _, l := range def.Limits {
		if to := permitted(l.To); len(to) > 0 || l.Escalate {
			limit := withStay(l.Name, l)
			limit.To = to
			e.Limits = append(e.Limits, limit)
		}
	}
	return e
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
	help := func(commands ...string) []string {
		for i, c := range commands {
			verb, rest, _ := strings.Cut(c, " ")
			commands[i] = strings.TrimRight("signalbox "+verb+" "+in.Instance+" "+rest, " ")
		}
		return commands
	}
	switch {
	case in.Closed == instance.Cancelled:
		return "It was cancelled: " + in.Reason + ". Nothing moves it any more, unless it is reopened.", help("reopen")
	case in.Closed != "" && in.moveFailed:
		return "It has ended: " + in.Reason + ". Nothing moves it any more, unless it is reopened.", help("reopen")
	case in.Closed != "":
		return "It has ended: " + in.Reason + ". Nothing moves it any more.", nil
	case in.Paused:
		return "It is paused: " + in.Reason + ". Nobody is given its work until it is resumed.", help("resume", "cancel")
	case in.held():
		e, _ := in.Held()
		return fmt.Sprintf("%s put it to people %s ago: %s. It goes on when a person resolves that.", e.Agent, env.Since(e.At),
			e.Reason), help("answer TEXT", "cancel")
	case in.Parked != nil && in.Parked.WaitsFor == instance.ForPlace:
		return in.Parked.sentence(), help("cancel")
	case in.Parked != nil && in.Parked.WaitsFor == instance.ForBudget:
		return in.Parked.sentence(), help("budget " + in.Parked.raise() + " --day")
	case in.Parked != nil && in.waitingOn() != "":
		return "It comes after " + in.waitingOn() + ".", help("cancel")
	case in.Parked != nil:
		return fmt.Sprintf("It is parked%s: %s. A signal may end that before.", in.Parked.until(env), in.Parked.Reason), help("retry")
	case in.Rest != nil:
		return in.Rest.Sentence(in.Worker, restsFor(env, in.Rest.Until)), help("retry")
	case in.waitingOn() != "":
		return "It comes after " + in.waitingOn() + ".", help("cancel")
	case in.Worker != "" && in.Worker != in.Owner && !in.Working(env.Now()) && in.LastFault != nil:
		return fmt.Sprintf("%s %s is asked something, and it is tried again.", in.LastFault.sentence(env), in.Worker),
			append(help("retry"), "signalbox doctor")
	case in.Worker != "" && in.Worker != in.Owner && !in.Working(env.Now()):
		return fmt.Sprintf("%s is asked something, and nobody has taken that: %s.", in.Worker, NoneOrBusy(in.Worker)),
			append(help("retry"), "signalbox doctor")
	case in.Kind == workflow.Wait:
		text := fmt.Sprintf("It has waited for people for %s, with %s open", env.Since(in.EnteredAt), Count(len(in.Open()), "question"))
		if in.Reason != "" {
			text += ": " + in.Reason
		}
		return text + ".", help("answer TEXT", "cancel")
	case in.Working(env.Now()):
		text := fmt.Sprintf("%s took the work %s ago; its lease runs for %s more and is renewed for as long as the agent lives.",
			in.Claim.Agent, env.Since(in.Claim.At), term.Duration(in.Claim.Lease.Sub(env.Now())))
		return text + in.gaveBack(env), help("pause")
	case in.Claim != nil:
		text := fmt.Sprintf("%s took it %s ago and went silent: its lease ran out %s ago. The work goes to the next %s that is free.",
			in.Claim.Agent, env.Since(in.Claim.At), env.Since(in.Claim.Lease), in.Owner)
		return text + in.gaveBack(env), help("retry")
	}
	text := fmt.Sprintf("Nobody has taken the work for %s: %s.", env.Since(in.EnteredAt), NoneOrBusy(in.Owner))
	switch f := in.LastFault; {
	case f != nil:
		text = f.sentence(env) + " It is tried again."
	case in.Faults > 0:
		text += fmt.Sprintf(" The work came back %s because of the machinery.", times(in.Faults))
	}
	return text, append(help("retry"), "signalbox doctor")
}

// NoneOrBusy is why work of a role is not taken, where it is not known which of both it is.
func NoneOrBusy(role string) string {
	return fmt.Sprintf("no %s runs, or all have other work", role)
}

func (k Parked) sentence() string {
	return instance.Parked{Until: k.Until, Reason: k.Reason, WaitsFor: k.WaitsFor}.Sentence()
}

// raise returns an amount by which the budget that the work waits for can be raised.
func (k Parked) raise() string {
	named, _, _ := strings.Cut(strings.TrimPrefix(k.Reason, "the budget "), " ")
	b, err := ledger.Parse(named)
	if err != nil {
		return "+5usd"
	}
	return b.Unit()
}

func (in Instance) held() bool {
	_, held := in.Held()
	return held
}

// waitingOn lists the instances that have to end well first, and how those stand that
// did not.
func (in Instance) waitingOn() string {
	var names []string
	for _, l := range in.Links {
		switch {
		case l.open() && l.Ended:
			names = append(names, l.Instance+", which did not end well: "+l.State)
		case l.open():
			names = append(names, l.Instance+", which has not ended yet")
		}
	}
	return strings.Join(names, "; ")
}

// after counts the instances that have to end well first.
func (in Instance) after() int {
	n := 0
	for _, l := range in.Links {
		if l.open() {
			n++
		}
	}
	return n
}

// Follows reports whether the instance comes after one that has not ended.
func (in Instance) Follows() bool {
	return slices.ContainsFunc(in.Links, func(l Link) bool { return l.Kind == string(instance.After) && !l.Ended })
}

// open reports whether the instance waits for the end of the linked one.
func (l Link) open() bool { return l.Kind == string(instance.After) && !(l.Ended && l.Well) }

// values returns what guards can read, without the values of a result or signal.
func (in Instance) values(def *workflow.Definition) map[string]any {
	repeats := 0
	if in.Failure != nil {
		repeats = in.Failure.Repeats
	}
	values := map[string]any{
		"instance.state": in.State, "instance.iteration": in.Iteration, "instance.returns": in.Returns, "instance.loop": in.Loop,
		"instance.repeats": repeats, "instance.head": in.Head, "instance.open_questions": len(in.Open()),
		"instance.failures": in.Failures[in.State], "instance.waiting_on": in.after(),
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

var guardNames = regexp.MustCompile(`\b(?:instance|policy|spend|vars)\.\w+`)

// read returns the values that a guard names.
func read(guard string, values map[string]any) map[string]any {
	found := map[string]any{}
	for _, name := range guardNames.FindAllString(guard, -1) {
		if value, ok := values[name]; ok {
			found[name] = value
		}
	}
	return found
}

// engine reports whether the engine itself sends the signal.
func engine(signal string) bool {
	return slices.Contains([]string{workflow.OnClaimed, workflow.OnEnded, workflow.OnWarning, workflow.OnAlert, workflow.OnEscalation}, signal)
}

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
	p.checks(e.Checks, e.head)
	return nil
}

// rules writes a line for each rule, with guards its guard and the values that it reads, too.
func (p page) rules(title string, rules []Rule, guards bool) {
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
		if !guards {
			p.field(name, text)
			continue
		}
		if r.When != "" {
			text += "\n  when " + term.Line(r.When)
		}
		for _, key := range slices.Sorted(maps.Keys(r.Values)) {
			text += "\n  " + key + " is " + formatValue(r.Values[key])
		}
		p.field(name, text)
	}
}
