package instance

import (
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/question"
)

// Ask puts a question to people, under the claim. The claim goes on.
type Ask struct {
	Token uint64
	Text  string
	Form  question.Wanted
}

// Inquire puts questions to other roles and ends the claim. The owner of the state
// gets the work back once all are answered (pipeline lifecycle, asking questions).
type Inquire struct {
	Token     uint64
	Questions []Inquiry
	Head      string // git commit the work is at so far, carried by Bundle; empty: unchanged
	Bundle    string
	Sections  map[string]string // of the document, as in a Result
}

// asksRole begins the reason of a release by Inquire. The role follows.
const asksRole = "asks "

// Inquiry is one question to a role.
type Inquiry struct {
	To       string `json:"to"`
	Question string `json:"question"`
	RunOnly  bool   `json:"-"` // nothing is asked for but what the work runs, on the code as it is
}

// Asked is a question to the role To or, if To is empty, to people.
type Asked struct {
	Number int
	From   string
	Text   string
	To     string

	RunOnly bool // nothing is asked for but what the work runs, on the code as it is

	Form     question.Form // of the answer of people
	Deadline time.Time     // when the default is taken; without a default, when people wish to know; zero: never
}

func (e Asked) apply(in *Instance, c Commit) {
	in.Questions = appended(in.Questions, Question{Number: e.Number, From: e.From, To: e.To, Text: e.Text, AskedAt: c.At, RunOnly: e.RunOnly,
		Form: e.Form, Deadline: e.Deadline})
}

// Handed is the progress of a step that is not over.
type Handed struct {
	Head      string
	Bundle    string
	Sections  map[string]string // the sections of the document that were written
	Artifacts []Artifact        // that are kept of the step
}

func (e Handed) apply(in *Instance, _ Commit) {
	if e.Head != "" {
		in.Head = e.Head
	}
	if e.Bundle != "" {
		by := ""
		if in.Claim != nil {
			by = in.Claim.Role
		}
		in.Bundles = appended(in.Bundles, Bundle{e.Bundle, in.Head, by})
	}
	in.Sections = merged(in.Sections, e.Sections)
	for _, a := range e.Artifacts {
		in.Artifacts = appended(in.Artifacts, a)
	}
}

// decide records a question to people. The claim goes on.
func (a Ask) decide(d *decision) error {
	if err := d.checkClaim(a.Token); err != nil {
		return err
	}
	if a.Text == "" {
		return d.refuse(CodeInvalid, nil, "a question needs a text")
	}
	form, err := a.Form.Clean()
	if err != nil {
		return d.refuse(CodeInvalid, nil, "%v", err)
	}
	d.askPeople(d.in.Claim.Role, a.Text, form)
	return nil
}

// askPeople records a question to people.
func (d *decision) askPeople(from, text string, form question.Wanted) {
	e := Asked{Number: len(d.in.Questions) + 1, From: from, Text: text, Form: form.Form}
	if form.Within > 0 {
		e.Deadline = d.cmd.At.Add(form.Within)
	}
	d.record(e)
}

// defaultInquiries bounds the questions between roles of one instance if its
// definition has no policy max_inquiries: roles could ask each other for ever.
const defaultInquiries = 20

// decide ends the claim, records its questions to other roles, and dispatches
// the newest of them.
func (a Inquire) decide(d *decision) error {
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
	if err := d.saveProgress(Handed{a.Head, a.Bundle, a.Sections, nil}); err != nil {
		return err
	}
	d.record(Released{Token: claim.Token, Agent: claim.Agent, Reason: asksRole + a.Questions[0].To})
	for _, q := range a.Questions {
		d.record(Asked{Number: len(d.in.Questions) + 1, From: claim.Role, Text: q.Question, To: q.To, RunOnly: q.RunOnly})
	}
	d.dispatch("")
	return nil
}

// saveProgress records what the claim's role has changed so far, if anything.
func (d *decision) saveProgress(h Handed) error {
	if err := d.checkSections(h.Sections); err != nil {
		return err
	}
	_, inquired := d.in.Inquiry()
	head, bundle, refused := d.admitChange(d.speaker(inquired), h.Head, h.Bundle)
	h.Head, h.Bundle = head, bundle
	d.record(refused...)
	if h.Head != "" || h.Bundle != "" || len(h.Sections) > 0 || len(h.Artifacts) > 0 {
		d.record(h)
	}
	return nil
}

// otherRoles returns the roles of the definition but one.
func (d *decision) otherRoles(role string) []string {
	return slices.DeleteFunc(slices.Clone(d.def.Roles()), func(r string) bool { return r == role })
}

// withdrawInquiries returns all with the open questions to roles withdrawn: the
// state that asked them has been left.
func withdrawInquiries(all []Question) []Question {
	open := func(q Question) bool { return q.To != "" && !q.Answered && !q.Withdrawn }
	if !slices.ContainsFunc(all, open) {
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		all[i].Withdrawn = all[i].Withdrawn || open(all[i])
	}
	return all
}
