package logcheck

import (
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// discussion has the questions and escalations of an instance.
type discussion struct {
	questions   []question
	escalations []escalation
}

type question struct {
	number int
	to     string // a role; empty: people
	open   bool
	used   bool // an agent works with the answer of people
}

type escalation struct {
	human bool // it holds the instance while it is open
	open  bool
}

// answerable reports whether the question can be answered, or an answer of people be changed.
func (q question) answerable() bool { return q.open || q.to == "" && !q.used }

// use marks the answers of people as used by the agent that claims, unless one is missing.
func (k *discussion) use() {
	if slices.ContainsFunc(k.questions, func(q question) bool { return q.open && q.to == "" }) {
		return
	}
	for i, q := range k.questions {
		k.questions[i].used = q.to == ""
	}
}

// openInquiry returns the newest open question to a role, which works next.
func (k *discussion) openInquiry() (question, bool) {
	for _, q := range slices.Backward(k.questions) {
		if q.open && q.to != "" {
			return q, true
		}
	}
	return question{}, false
}

// openEscalation returns the number of an open escalation that requires people, or
// 0.
func (k *discussion) openEscalation() int {
	return 1 + slices.IndexFunc(k.escalations, func(e escalation) bool { return e.open && e.human })
}

// withdraw closes the questions to roles when their state is left.
func (k *discussion) withdraw() {
	for i, q := range k.questions {
		k.questions[i].open = q.open && q.to == ""
	}
}

func (t *instanceChecker) asked(e instance.Asked) {
	if want := len(t.discussion.questions) + 1; e.Number != want {
		t.report(Asking, "question %d is asked, want it to be number %d", e.Number, want)
	}
	if e.To != "" && t.table != nil && !slices.Contains(t.table.Roles(), e.To) {
		t.report(Asking, "question %d is put to %q, which is no role of %s", e.Number, e.To, t.workflow)
	}
	t.discussion.questions = append(t.discussion.questions, question{len(t.discussion.questions) + 1, e.To, true, false})
}

func (t *instanceChecker) answered(e instance.Answered) {
	if e.Number < 1 || e.Number > len(t.discussion.questions) || !t.discussion.questions[e.Number-1].answerable() {
		t.report(Asking, "question %d is answered, and is not open", e.Number)
		return
	}
	q := &t.discussion.questions[e.Number-1]
	if q.to != "" && e.By != q.to {
		t.report(Asking, "question %d to %q is answered by %q", e.Number, q.to, e.By)
	}
	q.open = false
}

func (t *instanceChecker) escalated(e instance.Escalated) {
	if want := len(t.discussion.escalations) + 1; e.Number != want {
		t.report(Asking, "escalation %d, want it to be number %d", e.Number, want)
	}
	t.discussion.escalations = append(t.discussion.escalations, escalation{e.RequiresHuman, true})
	if e.RequiresHuman {
		t.endClaim()
	}
}

func (t *instanceChecker) resolved(e instance.Resolved) {
	if e.Number < 1 || e.Number > len(t.discussion.escalations) || !t.discussion.escalations[e.Number-1].open {
		t.report(Asking, "escalation %d is resolved, and is not open", e.Number)
		return
	}
	t.discussion.escalations[e.Number-1].open = false
	clear(t.failures)
}
