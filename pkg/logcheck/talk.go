package logcheck

import (
	"slices"

	"github.com/signalbox/signalbox/pkg/instance"
)

// talk is what was asked and escalated in an instance.
type talk struct {
	questions   []question
	escalations []escalation
}

type question struct {
	number int
	to     string // a role; empty: people
	open   bool
}

type escalation struct {
	human bool // nothing goes on while it is open
	open  bool
}

// asked is the newest open question to a role: it is that role's turn.
func (k *talk) asked() (question, bool) {
	for _, q := range slices.Backward(k.questions) {
		if q.open && q.to != "" {
			return q, true
		}
	}
	return question{}, false
}

// waits is the number of an escalation that waits for people, or 0.
func (k *talk) waits() int {
	return 1 + slices.IndexFunc(k.escalations, func(e escalation) bool { return e.open && e.human })
}

// withdraw ends what roles were asked in a state that is left.
func (k *talk) withdraw() {
	for i, q := range k.questions {
		k.questions[i].open = q.open && q.to == ""
	}
}

func (t *trail) asked(e instance.Asked) {
	if want := len(t.talk.questions) + 1; e.Number != want {
		t.say(Asking, "question %d is asked, want it to be number %d", e.Number, want)
	}
	if e.To != "" && t.table != nil && !slices.Contains(t.table.Roles(), e.To) {
		t.say(Asking, "question %d is put to %q, which is no role of %s", e.Number, e.To, t.workflow)
	}
	t.talk.questions = append(t.talk.questions, question{len(t.talk.questions) + 1, e.To, true})
}

func (t *trail) answered(e instance.Answered) {
	if e.Number < 1 || e.Number > len(t.talk.questions) || !t.talk.questions[e.Number-1].open {
		t.say(Asking, "question %d is answered, and is not open", e.Number)
		return
	}
	q := &t.talk.questions[e.Number-1]
	if q.to != "" && e.By != q.to {
		t.say(Asking, "question %d to %q is answered by %q", e.Number, q.to, e.By)
	}
	q.open = false
}

func (t *trail) escalated(e instance.Escalated) {
	if want := len(t.talk.escalations) + 1; e.Number != want {
		t.say(Asking, "escalation %d, want it to be number %d", e.Number, want)
	}
	t.talk.escalations = append(t.talk.escalations, escalation{e.RequiresHuman, true})
	if e.RequiresHuman {
		t.let()
	}
}

func (t *trail) resolved(e instance.Resolved) {
	if e.Number < 1 || e.Number > len(t.talk.escalations) || !t.talk.escalations[e.Number-1].open {
		t.say(Asking, "escalation %d is resolved, and is not open", e.Number)
		return
	}
	t.talk.escalations[e.Number-1].open = false
	clear(t.failures)
}
