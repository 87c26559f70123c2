package standing

import (
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Clock is the time of a sentence, and how it writes a duration.
type Clock struct {
	Now  time.Time
	Span func(time.Duration) string
}

func (c Clock) since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return c.Span(c.Now.Sub(t))
}

// Sentence states the reason for people. Its words are a stranger's in part: who shows it makes it safe.
func (r Reason) Sentence(c Clock) string {
	switch r.Kind {
	case Cancelled:
		return "It was cancelled: " + r.Text + ". Nothing moves it any more, unless it is reopened."
	case Failed:
		return "It has ended: " + r.Text + ". Nothing moves it any more, unless it is reopened."
	case Ended:
		return "It has ended: " + r.Text + ". Nothing moves it any more."
	case Paused:
		return "It is paused: " + r.Text + ". Nobody is given its work until it is resumed."
	case Escalated:
		return fmt.Sprintf("%s put it to people %s ago: %s. It goes on when a person resolves that.", r.Agent, c.since(r.Since), r.Text)
	case Place:
		return instance.Parked{Reason: r.Text, WaitsFor: instance.ForPlace}.Sentence()
	case Budget:
		return instance.Parked{Reason: r.Text, WaitsFor: instance.ForBudget, Until: r.Until}.Sentence()
	case Parked:
		return fmt.Sprintf("It is parked%s: %s. A signal may end that before.", c.Until(r.Until), r.Text)
	case Resting:
		return instance.Rest{Until: r.Until, Reason: r.Text}.Sentence(r.Role, c.Rests(r.Until))
	case After:
		return "It comes after " + r.others() + "."
	case Inquired:
		return r.inquired(c)
	case People:
		return r.people(c)
	case Working:
		return fmt.Sprintf("%s took the work %s ago; its lease runs for %s more and is renewed for as long as the agent lives.",
			r.Agent, c.since(r.Since), c.Span(r.Until.Sub(c.Now))) + r.gaveBack(c)
	case Silent:
		return fmt.Sprintf("%s took it %s ago and went silent: its lease ran out %s ago. The work goes to the next %s that is free.",
			r.Agent, c.since(r.Since), c.since(r.Until), r.Role) + r.gaveBack(c)
	}
	return r.queued(c)
}

// Until states how long an instance stays parked.
func (c Clock) Until(t time.Time) string {
	if t.IsZero() {
		return " until something happens"
	}
	if left := t.Sub(c.Now); left > 0 {
		return " for " + c.Span(left) + " more"
	}
	return ""
}

// Rests states how long an instance rests.
func (c Clock) Rests(until time.Time) string {
	return fmt.Sprintf("for %s, until %s", c.Span(until.Sub(c.Now)), until.UTC().Format("2006-01-02 15:04:05 MST"))
}

func (r Reason) others() string {
	names := make([]string, len(r.Others))
	for i, o := range r.Others {
		if names[i] = o.Instance + ", which has not ended yet"; o.Ended {
			names[i] = o.Instance + ", which did not end well: " + o.State
		}
	}
	return strings.Join(names, "; ")
}

func (r Reason) inquired(c Clock) string {
	if r.Fault != nil {
		return fmt.Sprintf("%s %s is asked something, and it is tried again.", r.Fault.sentence(c), r.Role)
	}
	return fmt.Sprintf("%s is asked something, and nobody has taken that: %s.", r.Role, NoneOrBusy(r.Role))
}

func (r Reason) people(c Clock) string {
	questions := fmt.Sprintf("%d questions", len(r.Questions))
	if len(r.Questions) == 1 {
		questions = "1 question"
	}
	text := fmt.Sprintf("It has waited for people for %s, with %s open", c.since(r.Since), questions)
	if r.Text != "" {
		text += ": " + r.Text
	}
	return text + "."
}

func (r Reason) queued(c Clock) string {
	if r.Fault != nil {
		return r.Fault.sentence(c) + " It is tried again."
	}
	text := fmt.Sprintf("Nobody has taken the work for %s: %s.", c.since(r.Since), NoneOrBusy(r.Role))
	switch {
	case r.Faults == 1:
		text += " The work came back once because of the machinery."
	case r.Faults > 1:
		text += fmt.Sprintf(" The work came back %d times because of the machinery.", r.Faults)
	}
	return text
}

// NoneOrBusy is why work of a role is not taken, where it is not known which of both it is.
func NoneOrBusy(role string) string {
	return fmt.Sprintf("no %s runs, or all have other work", role)
}

// sentence states the agent that gave the work back, when and why.
func (f Fault) sentence(c Clock) string {
	return fmt.Sprintf("%s gave the work back %s ago: %s.", f.Agent, c.since(f.At), strings.TrimRight(f.Reason, "."))
}

// gaveBack returns a sentence to append about the last fault, empty if none is known.
func (r Reason) gaveBack(c Clock) string {
	if r.Fault == nil {
		return ""
	}
	return fmt.Sprintf(" %s gave it back before, %s ago: %s.", r.Fault.Agent, c.since(r.Fault.At), strings.TrimRight(r.Fault.Reason, "."))
}
