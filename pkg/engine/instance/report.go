package instance

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Report ends the claim with a result. The definition decides the next state.
type Report struct {
	Token  uint64
	Result Result
}

// Reported is the result of a claimed step or, if Question is not 0, the answer to
// that question.
type Reported struct {
	Token    uint64
	Role     string
	Agent    string
	State    string
	Result   Result
	Question int
}

// apply ends the claim and adds what the result brought.
func (e Reported) apply(in *Instance, _ Commit) {
	r := e.Result
	in.Claim = nil
	if e.Question == 0 { // an answer is no step: the asker goes on from the step before
		in.Last, in.LastState = &r, e.State
	}
	in.Spend = in.Spend.with(r.Spend)
	if r.Base != "" && in.Base == "" {
		in.Base, in.Head = r.Base, r.Base
	}
	if r.Head != "" {
		in.Head = r.Head
	}
	if r.Bundle != "" {
		in.Bundles = appended(in.Bundles, Bundle{r.Bundle, in.Head, e.Role})
	}
	for _, ev := range r.Evidence {
		in.Evidence = replaceByName(in.Evidence, ev)
		if ev.OK {
			in.Failure = Signature{}
		}
	}
	switch s := r.FailureSignature; {
	case s == "":
	case s == in.Failure.Value:
		in.Failure.Repeats++
	default:
		in.Failure = Signature{Value: s}
	}
	for _, a := range r.Artifacts {
		in.Artifacts = appended(in.Artifacts, a)
	}
	in.Sections = merged(in.Sections, r.Sections)
}

// decide records the result, ends the claim and executes the rule that fits the
// result. The result of an inquired role is the answer to its question.
func (a Report) decide(d *decision) error {
	if err := d.checkClaim(a.Token); err != nil {
		return err
	}
	if err := d.checkResult(a.Result); err != nil {
		return err
	}
	from, claim := d.in.State, *d.in.Claim
	inquiry, inquired := d.in.Inquiry()
	if inquired && strings.TrimSpace(a.Result.Summary) == "" {
		return d.refuse(CodeInvalid, nil, "the summary of a result that answers question %d is the answer: it needs a text", inquiry.Number)
	}
	result, refused := d.admit(d.speaker(inquired), a.Result)
	d.record(Reported{claim.Token, claim.Role, claim.Agent, from, result, inquiry.Number})
	d.record(refused...)
	if result.Unjudged { // it moves nothing and answers nothing
		reason := strings.TrimSpace(result.Summary)
		if !inquired { // people get the last result's summary
			reason, _, _ = strings.Cut(reason, "\n")
		}
		d.record(Escalated{len(d.in.Escalations) + 1, claim.Role, cmp.Or(reason, claim.Role+" could not judge it"), true})
		return nil
	}
	if inquired {
		d.record(Answered{Number: inquiry.Number, Text: a.Result.Summary, By: claim.Role})
	}
	for _, q := range result.Questions {
		form, _ := result.Forms[q].Clean() // checkResult has refused those that are not
		d.askPeople(claim.Role, q, form)
	}
	d.takeAnswers(result.Answers)
	if err := d.setVars(result.Data); err != nil {
		return err
	}
	if inquired {
		return d.runAlways(true)
	}
	rule, err := d.pickRule(a.Result.Next)
	if err != nil {
		return err
	}
	return d.execute(nil, rule)
}

// pickRule returns the rule for a result: the first that holds. If the result proposes a
// next state that the definition lets it name, only rules to that state count. Without one
// the proposal itself is the rule. A proposal to end the run needs a rule that holds, else
// it is refused.
func (d *decision) pickRule(next string) (workflow.Rule, error) {
	state, _ := d.def.State(d.in.State)
	if next == "" {
		return d.ruleOf(state)
	}
	permitted, may := targets(state), d.def.Proposals(state)
	if slices.Contains(may, next) {
		rule, found, err := d.firstRule(state, next)
		if found || err != nil {
			return rule, err
		}
		if to, _ := d.def.State(next); to.Kind != workflow.Final {
			return workflow.Rule{Name: "proposed", To: []string{next}, Reason: "proposed by " + state.Owner}, nil
		}
	}
	if slices.Contains(permitted, next) { // but not by a result's word alone
		permitted = slices.DeleteFunc(may, func(to string) bool { return to == next })
	}
	d.record(ProposalRefused{state.Name, next, permitted})
	return d.ruleOf(state)
}

// ruleOf returns the rule for a result that proposes nothing.
func (d *decision) ruleOf(state workflow.State) (workflow.Rule, error) {
	rule, found, err := d.firstRule(state, "")
	if !found && err == nil {
		err = d.refuse(CodeUndecided, targets(state), "no rule of %s in %s covers the result", d.def.Name, state.Name)
	}
	return rule, err
}

// firstRule returns the state's first rule that holds; of those that lead to the
// proposed state, if there is one.
func (d *decision) firstRule(state workflow.State, proposed string) (rule workflow.Rule, found bool, err error) {
	for _, rule := range state.Decide {
		if proposed != "" && !slices.Contains(d.expandPrevious(rule.To), proposed) {
			continue
		}
		ok, err := d.holds(rule.When, nil)
		d.trace("result", rule, nil, ok, err)
		if err != nil {
			return rule, false, d.refuse(CodeUndecided, nil, "%s: %v", state.Name, err)
		}
		if !ok {
			continue
		}
		rule.Name = "decide"
		if proposed != "" {
			rule.Name, rule.To, rule.Reason = "proposed", []string{proposed}, "proposed by "+state.Owner
		}
		return rule, true, nil
	}
	return workflow.Rule{}, false, nil
}

// checkResult refuses a result with values out of range.
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
	for _, text := range slices.Sorted(maps.Keys(r.Forms)) {
		if _, err := r.Forms[text].Clean(); err != nil {
			return d.refuse(CodeInvalid, nil, "%q: %v", text, err)
		}
	}
	return d.checkSections(r.Sections)
}

// checkSections refuses sections that the claim's role may not write, or that are not JSON.
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
