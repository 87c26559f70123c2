package instance

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// report records the result and does what follows: the owner's proposal if the
// table has it, else the first rule that holds; then gates and limits may turn
// the move aside.
func (d *decision) report(a Report) error {
	if err := d.checkClaim(a.Token); err != nil {
		return err
	}
	if err := d.checkResult(a.Result); err != nil {
		return err
	}
	from, claim := d.in.State, *d.in.Claim
	inquiry, asked := d.in.Inquiry()
	if asked && strings.TrimSpace(a.Result.Summary) == "" {
		return d.refuse(CodeInvalid, nil, "the summary of a result that answers question %d is the answer: it needs a text", inquiry.Number)
	}
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
	if err := d.setVars(a.Result.Data); err != nil {
		return err
	}
	if asked {
		return d.runAlways(true)
	}
	rule, err := d.pick(a.Result.Next)
	if err != nil {
		return err
	}
	return d.execute(nil, rule)
}

// pick returns the rule for a result: the proposal's if it names a next state
// the table has, with all that the first fitting rule for that state adds.
func (d *decision) pick(next string) (workflow.Rule, error) {
	state, _ := d.def.State(d.in.State)
	proposed := state.Proposes && d.def.Permits(state.Name, next)
	if next != "" && !proposed {
		d.record(ProposalRefused{state.Name, next, targets(state)})
	}
	for _, rule := range state.Decide {
		if proposed && !slices.Contains(d.expandPrevious(rule.To), next) {
			continue
		}
		ok, err := d.holds(rule.When, nil)
		if err != nil {
			return rule, d.refuse(CodeUndecided, nil, "%s: %v", state.Name, err)
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
	return workflow.Rule{}, d.refuse(CodeUndecided, targets(state), "no rule of %s in %s covers the result", d.def.Name, state.Name)
}

func (d *decision) checkResult(r Result) error {
	switch {
	case r.Status != Success && r.Status != Failure && r.Status != Blocked:
		return d.refuse(CodeInvalid, []string{string(Success), string(Failure), string(Blocked)}, "status %q", r.Status)
	case !(r.ConfidenceScore >= 0 && r.ConfidenceScore <= 1):
		return d.refuse(CodeInvalid, nil, "confidence_score %v is not between 0 and 1", r.ConfidenceScore)
	case slices.Contains(r.Questions, ""):
		return d.refuse(CodeInvalid, nil, "a question needs a text")
	case !r.Spend.valid():
		return d.refuse(CodeInvalid, nil, "a cost is a number that is not below zero")
	}
	return d.checkSections(r.Sections)
}

// writes refuses sections that are not the claim's role's, or no JSON.
func (d *decision) checkSections(sections map[string]string) error {
	if len(sections) == 0 {
		return nil
	}
	may := d.def.WrittenBy(d.in.Claim.Role)
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		switch {
		case !slices.Contains(may, name):
			return d.refuse(CodeInvalid, may, "%s may not write section %q", d.in.Claim.Role, name)
		case !json.Valid([]byte(sections[name])):
			return d.refuse(CodeInvalid, nil, "section %q is not JSON", name)
		}
	}
	return nil
}

// signal records the signal and does what the state says to it. A state that
// does not listen keeps it for the next owner to read. A pause does not stop
// it, or the answer that came meanwhile would be waited for ever after.
func (d *decision) signal(a Signal) error {
	switch {
	case a.Name == "":
		return d.refuse(CodeInvalid, nil, "a signal needs a name")
	case reservedSignal(a.Name):
		return d.refuse(CodeInvalid, nil, "%s is what the engine itself says, not a signal", a.Name)
	}
	d.record(Signalled{a.Name, d.cmd.Actor, a.Ref, a.Data, a.Evidence})
	if d.in.Closed != "" {
		return nil
	}
	if err := d.setVars(a.Data); err != nil {
		return err
	}
	if held, ok := d.in.Escalation(); ok {
		facts := d.withSignal(a.Name, a.Data)
		for _, r := range d.def.Resolves {
			if r.Signal != a.Name {
				continue
			}
			ok, err := r.When.Holds(facts)
			if err != nil {
				return d.refuse(CodeUndecided, nil, "resolves %s: %v", a.Name, err)
			}
			if ok {
				return d.resolve(Resolve{held.Number, a.Data["body"]})
			}
		}
	}
	return d.react(a.Name, a.Data)
}

// told tells what the engine itself says from signals, which come from outside.
func reservedSignal(name string) bool {
	switch name {
	case workflow.OnClaimed, workflow.OnEnded, workflow.OnWarning, workflow.OnAlert, workflow.OnEscalation:
		return true
	}
	return false
}

// heard is the facts with a signal, or what the engine says in its place.
func (d *decision) withSignal(name string, data map[string]string) *workflow.Facts {
	facts := *d.facts()
	facts.Signal = workflow.SignalFacts{Name: name, Actor: d.cmd.Actor, Data: data}
	return &facts
}

// react does what the state says to a signal, or to what the engine tells it.
func (d *decision) react(name string, data map[string]string) error {
	state, _ := d.def.State(d.in.State)
	rules := state.On[name]
	if len(rules) == 0 {
		return d.runAlways(false)
	}
	facts := d.withSignal(name, data)
	for _, rule := range rules {
		ok, err := rule.When.Holds(facts)
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
		return d.execute(facts, rule)
	}
	return d.runAlways(false)
}
