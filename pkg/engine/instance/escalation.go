package instance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Escalate puts a matter to people, under the claim. With RequiresHuman the claim
// ends, and no role works until a person resolves the escalation.
type Escalate struct {
	Token         uint64
	Reason        string
	RequiresHuman bool
	Head          string // as in Inquire
	Bundle        string
	Sections      map[string]string
	Artifacts     []Artifact
}

// Resolve is people's decision on escalation Number; 0 means the one that holds the
// instance.
type Resolve struct {
	Number int
	Text   string
}

// escalates is the reason of a release by Escalate.
const escalates = "escalates"

// Escalated puts a matter to people.
type Escalated struct {
	Number        int
	Agent         string // the role
	Reason        string
	RequiresHuman bool
}

func (e Escalated) apply(in *Instance, c Commit) {
	in.Escalations = appended(in.Escalations, Escalation{
		Number: e.Number, Agent: e.Agent, Reason: e.Reason, RequiresHuman: e.RequiresHuman, At: c.At,
	})
	if e.RequiresHuman {
		in.Claim = nil
	}
}

// Resolved is people's decision on an escalation. It resets all failure counts.
type Resolved struct {
	Number int
	Text   string
	By     string
}

func (e Resolved) apply(in *Instance, _ Commit) {
	in.Escalations = slices.Clone(in.Escalations)
	for i := range in.Escalations {
		if r := &in.Escalations[i]; r.Number == e.Number {
			r.Resolved, r.Resolution, r.By = true, e.Text, e.By
		}
	}
	in.Failures, in.Returns = nil, 0
}

// decide records an escalation by the claim's role. It ends the claim if people
// are required.
func (a Escalate) decide(d *decision) error {
	if err := d.checkClaim(a.Token); err != nil {
		return err
	}
	if strings.TrimSpace(a.Reason) == "" {
		return d.refuse(CodeInvalid, nil, "an escalation needs a reason")
	}
	claim := *d.in.Claim
	if err := d.saveProgress(Handed{a.Head, a.Bundle, a.Sections, a.Artifacts}); err != nil {
		return err
	}
	if a.RequiresHuman {
		d.record(Released{Token: claim.Token, Agent: claim.Agent, Reason: escalates})
	}
	d.record(Escalated{len(d.in.Escalations) + 1, claim.Role, a.Reason, a.RequiresHuman})
	return nil
}

// escalateToPeople carries out a rule that escalates. While people are required
// already it only sets the rule's vars.
func (d *decision) escalateToPeople(by string, rule workflow.Rule) error {
	if err := d.setVars(rule.Set); err != nil {
		return err
	}
	if _, held := d.in.Escalation(); !held {
		d.record(Escalated{len(d.in.Escalations) + 1, cmp.Or(by, "orchestrator"), d.def.Text(rule.Reason), true})
	}
	return nil
}

// decide records people's decision. The instance goes on unless another
// escalation holds it.
func (a Resolve) decide(d *decision) error {
	if err := d.fromPeople("resolve an escalation"); err != nil {
		return err
	}
	var open []string
	for _, e := range d.in.Escalations {
		if !e.Resolved {
			open = append(open, fmt.Sprint(e.Number))
		}
	}
	if a.Number == 0 {
		e, _ := d.in.Escalation()
		a.Number = e.Number
	}
	if !slices.Contains(open, fmt.Sprint(a.Number)) {
		return d.refuse(CodeInvalid, open, "escalation %d is not open", a.Number)
	}
	_, held := d.in.Escalation()
	d.record(Resolved{a.Number, a.Text, d.cmd.Actor})
	if _, still := d.in.Escalation(); !held || still {
		return nil
	}
	d.resolved = true
	return d.runAlways(true)
}
