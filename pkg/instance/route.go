package instance

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// report records the result and does what follows: the owner's proposal if the
// table has it, else the first rule that holds; then gates and limits may turn
// the move aside.
func (d *decision) report(a Report) error {
	if err := d.hold(a.Token); err != nil {
		return err
	}
	if err := d.valid(a.Result); err != nil {
		return err
	}
	from, claim := d.in.State, *d.in.Claim
	inquiry, asked := d.in.Inquiry()
	d.record(Reported{claim.Token, claim.Role, claim.Agent, from, a.Result, inquiry.Number})
	if asked {
		d.record(Answered{inquiry.Number, a.Result.Summary, claim.Role})
	}
	for _, q := range a.Result.Questions {
		d.record(Asked{Number: len(d.in.Questions) + 1, From: claim.Role, Text: q})
	}
	for _, ans := range a.Result.Answers {
		if slices.ContainsFunc(d.in.OpenQuestions(), func(q Question) bool { return q.Number == ans.Question }) {
			d.record(Answered{ans.Question, ans.Text, ans.By})
		}
	}
	if err := d.remember(a.Result.Data); err != nil {
		return err
	}
	if asked {
		return d.settle(true)
	}
	facts := d.facts()
	facts.Result = resultFacts(a.Result)
	rule, err := d.pick(facts, a.Result.Next)
	if err != nil {
		return err
	}
	return d.follow(facts, rule)
}

// pick returns the rule for a result: the proposal's if it names a next state
// the table has, with all that the first fitting rule for that state adds.
func (d *decision) pick(facts workflow.Facts, next string) (workflow.Rule, error) {
	state, _ := d.def.State(d.in.State)
	proposed := state.Proposes && d.def.Permits(state.Name, next)
	if next != "" && !proposed {
		d.record(ProposalRefused{state.Name, next, targets(state)})
	}
	for _, rule := range state.Decide {
		if proposed && !slices.Contains(d.resolved(rule.To), next) {
			continue
		}
		ok, err := rule.When.Eval(facts)
		if err != nil {
			return rule, d.refuse(Undecided, nil, "%s: %v", state.Name, err)
		}
		if !ok {
			continue
		}
		rule.Name = "decide"
		if proposed {
			rule.Name, rule.To, rule.Reason = "proposed", []string{next}, "proposed by "+state.Owner
		}
		return rule, nil
	}
	if proposed {
		return workflow.Rule{Name: "proposed", To: []string{next}, Reason: "proposed by " + state.Owner}, nil
	}
	return workflow.Rule{}, d.refuse(Undecided, targets(state), "no rule of %s in %s covers the result", d.def.Name, state.Name)
}

func (d *decision) valid(r Result) error {
	switch {
	case r.Status != Success && r.Status != Failure && r.Status != Blocked:
		return d.refuse(Invalid, []string{string(Success), string(Failure), string(Blocked)}, "status %q", r.Status)
	case !(r.ConfidenceScore >= 0 && r.ConfidenceScore <= 1):
		return d.refuse(Invalid, nil, "confidence_score %v is not between 0 and 1", r.ConfidenceScore)
	case slices.Contains(r.Questions, ""):
		return d.refuse(Invalid, nil, "a question needs a text")
	case !r.Spend.valid():
		return d.refuse(Invalid, nil, "a cost is a number that is not below zero")
	}
	may := d.def.WrittenBy(d.in.Claim.Role)
	for _, name := range slices.Sorted(maps.Keys(r.Sections)) {
		switch {
		case !slices.Contains(may, name):
			return d.refuse(Invalid, may, "%s may not write section %q", d.in.Claim.Role, name)
		case !json.Valid([]byte(r.Sections[name])):
			return d.refuse(Invalid, nil, "section %q is not JSON", name)
		}
	}
	return nil
}

// signal records the signal and does what the state says to it. A state that
// does not listen keeps it for the next owner to read. A pause does not stop
// it, or the answer that came meanwhile would be waited for ever after.
func (d *decision) signal(a Signal) error {
	if a.Name == "" {
		return d.refuse(Invalid, nil, "a signal needs a name")
	}
	d.record(Signalled{a.Name, d.cmd.Actor, a.Ref, a.Data, a.Evidence})
	if d.in.Closed != "" {
		return nil
	}
	if err := d.remember(a.Data); err != nil {
		return err
	}
	facts := d.facts()
	facts.Signal = workflow.SignalFacts{Name: a.Name, Actor: d.cmd.Actor, Data: a.Data}
	if held, ok := d.in.Escalation(); ok {
		for _, r := range d.def.Resolves {
			if r.Signal != a.Name {
				continue
			}
			ok, err := r.When.Eval(facts)
			if err != nil {
				return d.refuse(Undecided, nil, "resolves %s: %v", a.Name, err)
			}
			if ok {
				return d.resolve(Resolve{held.Number, a.Data["body"]})
			}
		}
	}
	return d.react(facts, a.Name)
}

// react does what the state says to a signal, or to what the engine tells it.
func (d *decision) react(facts workflow.Facts, name string) error {
	state, _ := d.def.State(d.in.State)
	for _, rule := range state.On[name] {
		ok, err := rule.When.Eval(facts)
		if err != nil {
			return d.refuse(Undecided, nil, "%s on %s: %v", d.in.State, name, err)
		}
		if !ok {
			continue
		}
		rule.Name = "signal"
		if name == workflow.OnClaimed {
			rule.Name = name
			return d.step(facts, rule)
		}
		return d.follow(facts, rule)
	}
	if name == workflow.OnClaimed {
		return nil
	}
	return d.settle(false)
}

// follow carries a rule out.
func (d *decision) follow(facts workflow.Facts, rule workflow.Rule) error {
	switch {
	case rule.Escalate:
		if err := d.remember(rule.Set); err != nil {
			return err
		}
		d.record(Escalated{len(d.in.Escalations) + 1, d.in.Owner, d.def.Text(rule.Reason), true})
		return nil
	case rule.Stay.Source != "":
		if err := d.remember(rule.Set); err != nil {
			return err
		}
		return d.stay(rule)
	}
	if err := d.step(facts, rule); err != nil {
		return err
	}
	return d.settle(true)
}

// stay leaves the instance where it is and says when its owner looks again. An
// owner at work looks again when it is done.
func (d *decision) stay(rule workflow.Rule) error {
	reason := d.def.Text(rule.Reason)
	live := d.in.Claim.Live(d.cmd.At)
	switch after := rule.Stay.After; {
	case live && after == 0 && !d.in.Woken:
		d.record(Woken{reason})
	case live:
	case after == 0 || d.in.Woken:
		return d.settle(true)
	case after > 0:
		d.record(ParkedUntil{d.in.State, d.cmd.At.Add(after), reason})
	default:
		d.record(ParkedUntil{State: d.in.State, Reason: reason})
	}
	return d.settle(false)
}

// maxHops bounds the moves that always rules make in one decision.
const maxHops = 16

// settle takes the moves nobody has to make, and then gives the work to whose
// turn it is, if wake or if the state is another.
func (d *decision) settle(wake bool) error {
	for range maxHops {
		_, held := d.in.Escalation()
		_, asked := d.in.Inquiry()
		if held || asked || d.in.Paused || d.in.Closed != "" || d.in.Claim.Live(d.cmd.At) {
			break
		}
		rule, ok, err := d.standing()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := d.step(d.facts(), rule); err != nil {
			return err
		}
		wake = true
	}
	if wake {
		d.dispatch("")
	}
	return nil
}

// standing returns the first always rule of the state that holds.
func (d *decision) standing() (workflow.Rule, bool, error) {
	state, _ := d.def.State(d.in.State)
	facts := d.facts()
	for _, rule := range state.Always {
		ok, err := rule.When.Eval(facts)
		if err != nil {
			return rule, false, d.refuse(Undecided, nil, "%s always: %v", state.Name, err)
		}
		if ok {
			rule.Name = "always"
			return rule, true, nil
		}
	}
	return workflow.Rule{}, false, nil
}
