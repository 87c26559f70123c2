package workflow

import (
	"strings"
	"time"
)

// sentence describes a rule. It begins with first; mark marks code up.
func sentence(first string, r Rule, mark func(string) string) string {
	if !r.When.Always() {
		first += " " + mark(r.When.Source)
	}
	switch {
	case r.Escalate:
		first += ", people are asked"
	case r.Stay.Source == stayNow:
		first += ", stay and work on at once"
	case r.Stay.Source == staySignal:
		first += ", stay until a signal"
	case r.stays():
		first += ", stay for " + mark(brief(r.Stay.Source))
	default:
		first += " → " + marked(r.To, mark)
	}
	for i, name := range sortedKeys(r.Set) {
		if i == 0 {
			first += ", set "
		} else {
			first += " and "
		}
		first += mark(name + " = " + r.Set[name])
	}
	if r.Reason != "" {
		first += ": " + r.Reason
	}
	if r.Failure {
		first += " (a failure)"
	}
	if r.ResetsFailures {
		first += " (failure counts are reset)"
	}
	if r.Resumes {
		first += " (the wait goes on)"
	}
	return first
}

// opening is how the sentence of a rule begins that is tried among others.
func opening(r Rule) string {
	if r.When.Always() {
		return "otherwise"
	}
	return "when"
}

func marked(list []string, mark func(string) string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = mark(s)
	}
	return strings.Join(out, ", ")
}

// brief is a duration as people write it, 15m for 15m0s; other texts stay.
func brief(text string) string {
	if d, err := time.ParseDuration(text); err != nil || d.String() != text {
		return text
	}
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// question describes a question of a state.
func question(q Inquiry, mark func(string) string) string {
	return conditional(q.When, mark) + mark(q.To) + " is asked: " + q.Text
}

// spawn describes the instances that a state opens.
func spawn(sp Spawn, mark func(string) string) string {
	text := conditional(sp.When, mark) + "a " + mark(sp.Workflow) + " is opened"
	if sp.State != "" {
		text += " in " + mark(sp.State)
	}
	if sp.Reason != "" {
		text += ": " + sp.Reason
	}
	return text
}

func conditional(g Guard, mark func(string) string) string {
	if g.Always() {
		return ""
	}
	return "when " + mark(g.Source) + ", "
}
