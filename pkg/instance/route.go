package instance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// report records the result and moves the instance: the owner's proposal if the
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
	d.record(Reported{claim.Token, claim.Role, claim.Agent, from, a.Result})
	for _, q := range a.Result.Questions {
		d.record(Asked{len(d.in.Questions) + 1, claim.Role, q})
	}
	for _, ans := range a.Result.Answers {
		if slices.ContainsFunc(d.in.OpenQuestions(), func(q Question) bool { return q.Number == ans.Question }) {
			d.record(Answered{ans.Question, ans.Text, ans.By})
		}
	}
	state, _ := d.def.State(from)
	facts := d.facts()
	facts.Result = resultFacts(a.Result)

	if next := a.Result.Next; next != "" {
		if state.Proposes && d.def.Permits(from, next) {
			return d.move(facts, workflow.Rule{Name: "proposed", To: []string{next}, Reason: "proposed by " + claim.Role})
		}
		d.record(ProposalRefused{from, next, targets(state)})
	}
	for _, rule := range state.Decide {
		ok, err := rule.When.Eval(facts)
		if err != nil {
			return d.refuse(Undecided, nil, "%s: %v", from, err)
		}
		if ok {
			rule.Name = "decide"
			return d.move(facts, rule)
		}
	}
	return d.refuse(Undecided, targets(state), "no rule of %s in %s covers the result", d.def.Name, from)
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
	return nil
}

// signal records the signal and does what the state says to it. A state that
// does not listen keeps it for the next owner to read. A pause does not stop
// it, or the answer that came meanwhile would be waited for ever after.
func (d *decision) signal(a Signal) error {
	if a.Name == "" {
		return d.refuse(Invalid, nil, "a signal needs a name")
	}
	d.record(Signalled{a.Name, d.cmd.Actor, a.Ref, a.Data})
	if d.in.Closed != "" {
		return nil
	}
	state, _ := d.def.State(d.in.State)
	facts := d.facts()
	facts.Signal = workflow.SignalFacts{Name: a.Name, Actor: d.cmd.Actor, Data: a.Data}
	for _, rule := range state.On[a.Name] {
		ok, err := rule.When.Eval(facts)
		if err != nil {
			return d.refuse(Undecided, nil, "%s on %s: %v", d.in.State, a.Name, err)
		}
		if ok {
			rule.Name = "signal"
			return d.move(facts, rule)
		}
	}
	return nil
}

// move takes the rule's first permitted target through gates and limits.
func (d *decision) move(facts workflow.Facts, rule workflow.Rule) error {
	from := d.in.State
	state, _ := d.def.State(from)
	to, ok := d.permitted(rule.To)
	if !ok {
		return d.refuse(NotPermitted, targets(state), "%s → %s", from, strings.Join(rule.To, " or "))
	}
	name, reason, failure := rule.Name, rule.Reason, rule.Failure
	for _, gate := range d.def.Gates {
		if !slices.Contains(gate.To, to) {
			continue
		}
		holds, err := gate.Require.Eval(facts)
		if err != nil {
			return d.refuse(Undecided, nil, "gate %s: %v", gate.Name, err)
		}
		if holds {
			continue
		}
		instead, ok := d.permitted(gate.Instead)
		if !ok {
			return d.refuse(Undecided, targets(state), "gate %s forbids %s → %s and offers no permitted way", gate.Name, from, to)
		}
		d.record(GateRefused{gate.Name, to, instead, gate.Reason})
		to, name, reason = instead, gate.Name, gate.Reason
	}
	after := d.moved(to, name, reason, failure)
	if after.in.Kind != workflow.Final {
		limited, rule, err := d.limit(facts, after.facts().Instance)
		if err != nil {
			return err
		}
		if limited != "" {
			after = d.moved(limited, rule.Name, rule.Reason, true)
		}
	}
	*d = after
	if d.in.Loop && d.in.Visited(d.in.State) > 1 {
		w := d.def.Loop.Window
		recent := d.in.Previous[len(d.in.Previous)-w:]
		d.record(LoopDetected{slices.Clone(recent), fmt.Sprintf("the last %d states were %s", w, strings.Join(recent, ", "))})
	}
	d.dispatch()
	return nil
}

// moved is the decision with the move made.
func (d decision) moved(to, rule, reason string, failure bool) decision {
	target, _ := d.def.State(to)
	d.record(Moved{From: d.in.State, To: to, Owner: target.Owner, Kind: target.Kind, Rule: rule, Reason: reason, Failure: failure, Loop: d.inLoop()})
	return d
}

// limit asks the definition's limits about the move that is about to be made:
// they see the instance as it would be after it.
func (d *decision) limit(facts workflow.Facts, after workflow.InstanceFacts) (string, workflow.Rule, error) {
	facts.Instance = after
	for _, rule := range d.def.Limits {
		holds, err := rule.When.Eval(facts)
		if err != nil {
			return "", rule, d.refuse(Undecided, nil, "limit %s: %v", rule.Name, err)
		}
		if holds {
			if target, ok := d.permitted(rule.To); ok {
				return target, rule, nil
			}
		}
	}
	return "", workflow.Rule{}, nil
}

// inLoop is the loop rule over the past that includes the state being left.
func (d *decision) inLoop() bool {
	recent := d.in.Previous[max(0, len(d.in.Previous)-d.def.Loop.Window):]
	return InLoop(with(recent, d.in.State), d.def.Loop)
}

// InLoop reports whether the newest l.Window of the previous states hold at
// most l.Distinct different ones (issue lifecycle, is_in_loop).
func InLoop(previous []string, l workflow.Loop) bool {
	if l.Window == 0 || len(previous) < l.Window {
		return false
	}
	distinct := map[string]bool{}
	for _, s := range previous[len(previous)-l.Window:] {
		distinct[s] = true
	}
	return len(distinct) <= l.Distinct
}

func (d *decision) permitted(candidates []string) (string, bool) {
	for _, to := range candidates {
		if d.def.Permits(d.in.State, to) {
			return to, true
		}
	}
	return "", false
}

func targets(s workflow.State) []string {
	var out []string
	for _, t := range s.Next {
		out = append(out, t.To)
	}
	return out
}
