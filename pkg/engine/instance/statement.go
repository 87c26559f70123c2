package instance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// StatementRefused means that a role, or a signal, gave something that the definition
// does not let it give. It was set aside: no guard sees it.
type StatementRefused struct {
	What      string   // RefusedEvidence, RefusedVar, RefusedAnswer, RefusedAuthor or RefusedChange
	Name      string   // of the check or variable, the number of the question, the commit
	Role      string   // workflow.Human for a signal
	Agent     string   // the actor of a signal
	Said      string   // what it said, cut
	Permitted []string // who may give it, and where
}

func (StatementRefused) apply(*Instance, Commit) {} // recorded for people

// Sentence states for people which statement was set aside, and why.
func (e StatementRefused) Sentence() string {
	what := e.What + " " + e.Name
	switch e.What {
	case RefusedAnswer:
		what = "the answer to question " + e.Name
	case RefusedAuthor:
		what = "that the answer to question " + e.Name + " is by a person"
	case RefusedChange:
		what = "the code at " + e.Name
	}
	if e.Said != "" {
		what += fmt.Sprintf(" (%s)", e.Said)
	}
	return fmt.Sprintf("%s is set aside: %s may not give it; it may come from %s", what, e.Role, strings.Join(e.Permitted, ", "))
}

// Kinds of statements that a role may not make, as StatementRefused.What has them.
const (
	RefusedEvidence = workflow.GivenEvidence
	RefusedVar      = workflow.GivenVar
	RefusedAnswer   = "answer"
	RefusedAuthor   = "author" // of an answer, which stands as the role's own
	RefusedChange   = "change" // of the code
)

// RefusedKinds returns all of them.
func RefusedKinds() []string {
	return []string{RefusedEvidence, RefusedVar, RefusedAnswer, RefusedAuthor, RefusedChange}
}

// speaker is who makes a statement, and where.
type speaker struct {
	role, agent string // Human and the actor for a signal
	state       string
	asked       bool // it answers a question of the state's owner
}

// speaker returns who holds the claim.
func (d *decision) speaker(asked bool) speaker {
	return speaker{d.in.Claim.Role, d.in.Claim.Agent, d.in.State, asked}
}

// admit returns the result without what the definition does not let its role give. Every
// check is signed by who made it. There is an event for each thing it set aside.
func (d *decision) admit(s speaker, r Result) (Result, []Event) {
	var refused []Event
	r.Evidence, refused = d.admitEvidence(s, r.Evidence)
	data, more := d.admitVars(s, r.Data)
	r.Data, refused = data, append(refused, more...)
	head, bundle, more := d.admitChange(s, r.Head, r.Bundle)
	r.Head, r.Bundle, refused = head, bundle, append(refused, more...)
	r.Answers, more = d.admitAnswers(s, r.Answers)
	return r, append(refused, more...)
}

// admitEvidence returns the evidence that the speaker may give, signed.
func (d *decision) admitEvidence(s speaker, all []Evidence) (admitted []Evidence, refused []Event) {
	for _, e := range all {
		if !d.def.Gives(s.state, s.role, s.asked, workflow.GivenEvidence, e.Name) {
			said := fmt.Sprintf("%s on %s", e.EffectiveVerdict(), cmp.Or(e.Commit, "no commit"))
			refused = append(refused, d.refused(s, RefusedEvidence, e.Name, said, d.def.Givers(workflow.GivenEvidence, e.Name)))
			continue
		}
		e.Role, e.Agent = s.role, s.agent
		if s.role == workflow.Human {
			e.Role = ""
		}
		admitted = append(admitted, e)
	}
	return admitted, refused
}

// admitVars returns data without the variables that the speaker may not set.
func (d *decision) admitVars(s speaker, data map[string]string) (map[string]string, []Event) {
	var refused []Event
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if _, declared := d.def.Vars[name]; !declared || d.def.Gives(s.state, s.role, s.asked, workflow.GivenVar, name) {
			continue
		}
		if refused == nil {
			data = maps.Clone(data)
		}
		refused = append(refused, d.refused(s, RefusedVar, name, data[name], d.def.Givers(workflow.GivenVar, name)))
		delete(data, name)
	}
	return data, refused
}

// admitChange returns the code that a step leaves, or nothing where the work runs
// checks: they are of what others left.
func (d *decision) admitChange(s speaker, head, bundle string) (string, string, []Event) {
	if head == "" && bundle == "" || !d.def.WorkOf(s.state, s.role, s.asked).Tests() {
		return head, bundle, nil
	}
	return "", "", []Event{d.refused(s, RefusedChange, cmp.Or(head, bundle), "", d.def.Writers())}
}

// admitAnswers returns the answers to people's questions that the speaker may give. Each
// is by a person only if that person's words are in the log; else it is the role's own.
func (d *decision) admitAnswers(s speaker, all []QuestionAnswer) (admitted []QuestionAnswer, refused []Event) {
	for _, a := range all {
		name := fmt.Sprint(a.Question)
		if !d.def.Gives(s.state, s.role, s.asked, workflow.GivenAnswers, "") {
			refused = append(refused, d.refused(s, RefusedAnswer, name, a.Text, d.def.Givers(workflow.GivenAnswers, "")))
			continue
		}
		if a.By != "" && a.By != s.role && !d.said(a) {
			refused = append(refused, d.refused(s, RefusedAuthor, name, a.By, []string{"people whose remark has these words", s.role}))
			a.By = ""
		}
		a.By = cmp.Or(a.By, s.role)
		admitted = append(admitted, a)
	}
	return admitted, refused
}

// AnswerToAll marks an answer that was given to all open questions at once.
const AnswerToAll = "(in answer to all open questions) "

// said reports whether every line of the answer is in a remark of the people it names.
func (d *decision) said(a QuestionAnswer) bool {
	var remarks []string
	for author := range strings.SplitSeq(a.By, ", ") {
		found := false
		for _, n := range d.in.Notes {
			if n.Author == author && roleOf(n.Author) == workflow.Human {
				found = true
				remarks = append(remarks, words(n.Text))
			}
		}
		if !found {
			return false
		}
	}
	for line := range strings.Lines(a.Text) {
		line = words(strings.TrimPrefix(line, AnswerToAll))
		if !slices.ContainsFunc(remarks, func(remark string) bool { return strings.Contains(remark, line) }) {
			return false
		}
	}
	return true
}

// words is a text without its punctuation and layout, which those who quote change.
func words(text string) string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(fields) == 0 {
		return " "
	}
	return " " + strings.Join(fields, " ") + " "
}

// maxSaid bounds the text of a refused statement in the log, in runes.
const maxSaid = 200

// refused is the event of a statement that was set aside.
func (d *decision) refused(s speaker, what, name, said string, from []string) Event {
	if runes := []rune(said); len(runes) > maxSaid {
		said = string(runes[:maxSaid]) + "…"
	}
	return StatementRefused{What: what, Name: name, Role: s.role, Agent: s.agent, Said: said, Permitted: from}
}

// fromPeople refuses an agent what only people and the gateway say.
func (d *decision) fromPeople(what string) error {
	if role := d.actorRole(); role != workflow.Human {
		return d.refuse(CodeForbidden, []string{workflow.Human}, "%s may not %s: only people may", role, what)
	}
	return nil
}
