package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// communication takes new questions and escalations from the role, and its
// answer to the question that it was asked. Earlier ones stay.
func (r *reading) communication(now json.RawMessage) error {
	var c Communication
	if err := json.Unmarshal(now, &c); err != nil {
		return fmt.Errorf("%w: communication: %w", ErrInvalid, err)
	}
	r.questions(c.Questions)
	r.escalations(c.Escalations)
	return nil
}

func (r *reading) questions(now []Question) {
	was := r.before.Communication.Questions
	for i, q := range was {
		if i >= len(now) {
			r.refuse("communication.questions[%d]", i)
			continue
		}
		asked := r.a.Question
		switch answer := now[i].Answer; {
		case asked != nil && i == asked.Number-1 && answer != nil && strings.TrimSpace(*answer) != "":
			r.out.Result.Summary, r.out.Declared = strings.TrimSpace(*answer), true
		case !same(encode(q), encode(now[i])):
			r.refuse("communication.questions[%d]", i)
		}
	}
	for i, q := range now[min(len(was), len(now)):] {
		switch {
		case q.From != "" && q.From != r.role:
			r.refuse("communication.questions[%d], which is from the %s,", len(was)+i, q.From)
		case strings.TrimSpace(q.Question) == "":
			r.refuse("communication.questions[%d], which asks nothing,", len(was)+i)
		case people(q.To):
			r.escalate(q.Question, true)
		default:
			r.out.Asks = append(r.out.Asks, instance.Inquiry{To: strings.TrimSpace(q.To), Question: q.Question})
		}
	}
}

// people reports whether a question is not to a role.
func people(to string) bool {
	return slices.Contains([]string{workflow.Human, "humans", "people", "user", "reporter"}, strings.ToLower(strings.TrimSpace(to)))
}

func (r *reading) escalations(now []Escalation) {
	was := r.before.Communication.Escalations
	for i, e := range was {
		if i >= len(now) || now[i] != e {
			r.refuse("communication.escalations[%d]", i)
		}
	}
	for i, e := range now[min(len(was), len(now)):] {
		if e.Agent != "" && e.Agent != r.role || strings.TrimSpace(e.Reason) == "" {
			r.refuse("communication.escalations[%d], from the %q,", len(was)+i, e.Agent)
			continue
		}
		if !e.Resolved {
			r.escalate(e.Reason, e.RequiresHuman)
		}
	}
}

// escalate puts one more matter to people: those of one piece of work are one.
func (r *reading) escalate(reason string, requires bool) {
	if e := r.out.Escalate; e != nil {
		e.Reason, e.RequiresHuman = e.Reason+"\n"+reason, e.RequiresHuman || requires
		return
	}
	r.out.Escalate = &work.Escalation{Reason: reason, RequiresHuman: requires}
}

// learnings takes new observations of the role.
func (r *reading) learnings(now json.RawMessage) error {
	var l Learnings
	if err := json.Unmarshal(now, &l); err != nil {
		return fmt.Errorf("%w: learnings: %w", ErrInvalid, err)
	}
	was := r.before.Learnings
	if l.SessionID != was.SessionID {
		r.refuse("learnings.session_id")
	}
	if text(l.Outcome) != text(was.Outcome) {
		r.refuse("learnings.outcome")
	}
	for i, o := range was.Observations {
		if i >= len(l.Observations) || l.Observations[i] != o {
			r.refuse("learnings.observations[%d]", i)
		}
	}
	for i, o := range l.Observations[min(len(was.Observations), len(l.Observations)):] {
		if o.Agent != "" && o.Agent != r.role || strings.TrimSpace(o.Content) == "" {
			r.refuse("learnings.observations[%d], from the %q,", len(was.Observations)+i, o.Agent)
			continue
		}
		kind := o.Type
		if kind == "" {
			kind = "learning"
		}
		r.out.Notes = append(r.out.Notes, instance.NoteEntry{Kind: kind, Text: o.Content})
	}
	return nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func encode(v any) json.RawMessage {
	text, _ := json.Marshal(v) // of types that always can be
	return text
}
