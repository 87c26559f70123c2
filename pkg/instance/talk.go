package instance

import (
	"fmt"
	"slices"
	"strings"
)

func (d *decision) ask(a Ask) error {
	if err := d.checkClaim(a.Token); err != nil {
		return err
	}
	if a.Text == "" {
		return d.refuse(CodeInvalid, nil, "a question needs a text")
	}
	d.record(Asked{Number: len(d.in.Questions) + 1, From: d.in.Claim.Role, Text: a.Text})
	return nil
}

func (d *decision) answer(a Answer) error {
	open := d.in.OpenQuestions()
	if !slices.ContainsFunc(open, func(q Question) bool { return q.Number == a.Number }) {
		var allowed []string
		for _, q := range open {
			allowed = append(allowed, fmt.Sprint(q.Number))
		}
		return d.refuse(CodeInvalid, allowed, "question %d is not open", a.Number)
	}
	d.record(Answered{a.Number, a.Text, d.cmd.Actor})
	return d.runAlways(false)
}

// defaultInquiries bounds the questions between roles of one instance whose
// definition has no policy max_inquiries: roles that ask each other for ever
// would never move it.
const defaultInquiries = 20

func (d *decision) inquire(a Inquire) error {
	if err := d.checkClaim(a.Token); err != nil {
		return err
	}
	asked := 0
	for _, q := range d.in.Questions {
		if q.To != "" {
			asked++
		}
	}
	limit, ok := d.def.Policy["max_inquiries"].(int64)
	if !ok {
		limit = defaultInquiries
	}
	switch {
	case len(a.Questions) == 0:
		return d.refuse(CodeInvalid, nil, "an inquiry asks something")
	case int64(asked+len(a.Questions)) > limit:
		return d.refuse(CodeInvalid, []string{"report"}, "%d questions to roles are asked already, %d are permitted", asked, limit)
	}
	claim := *d.in.Claim
	for _, q := range a.Questions {
		switch {
		case strings.TrimSpace(q.Question) == "":
			return d.refuse(CodeInvalid, nil, "a question needs a text")
		case q.To == claim.Role:
			return d.refuse(CodeInvalid, d.otherRoles(claim.Role), "%s asks itself", q.To)
		case !slices.Contains(d.def.Roles(), q.To):
			return d.refuse(CodeInvalid, d.otherRoles(claim.Role), "%q is not a role of %s", q.To, d.def.Name)
		}
	}
	if err := d.saveProgress(Handed{a.Head, a.Bundle, a.Sections}); err != nil {
		return err
	}
	d.record(Released{claim.Token, claim.Agent, "asks " + a.Questions[0].To, false})
	for _, q := range a.Questions {
		d.record(Asked{len(d.in.Questions) + 1, claim.Role, q.Question, q.To})
	}
	d.dispatch("")
	return nil
}

// hand records what the claim's role has got to, if that is anything new.
func (d *decision) saveProgress(h Handed) error {
	if err := d.checkSections(h.Sections); err != nil {
		return err
	}
	if h.Head != "" || h.Bundle != "" || len(h.Sections) > 0 {
		d.record(h)
	}
	return nil
}

func (d *decision) otherRoles(role string) []string {
	return slices.DeleteFunc(slices.Clone(d.def.Roles()), func(r string) bool { return r == role })
}

func (d *decision) escalate(a Escalate) error {
	if err := d.checkClaim(a.Token); err != nil {
		return err
	}
	if strings.TrimSpace(a.Reason) == "" {
		return d.refuse(CodeInvalid, nil, "an escalation needs a reason")
	}
	claim := *d.in.Claim
	if err := d.saveProgress(Handed{a.Head, a.Bundle, a.Sections}); err != nil {
		return err
	}
	if a.RequiresHuman {
		d.record(Released{claim.Token, claim.Agent, "escalates", false})
	}
	d.record(Escalated{len(d.in.Escalations) + 1, claim.Role, a.Reason, a.RequiresHuman})
	return nil
}

// resolve lets the instance go on, unless another escalation holds it still.
func (d *decision) resolve(a Resolve) error {
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
