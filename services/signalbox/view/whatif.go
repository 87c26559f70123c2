package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/whatif"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// WhatIf is the JSON of `whatif`.
type WhatIf struct {
	Instances int `json:"instances"` // that were decided again
	Commits   int `json:"commits"`
	Same      int `json:"same"`
	Unknown   int `json:"unknown"`
	// Of the instances that would have gone elsewhere:
	AskLess int            `json:"ask_less"` // people would not have been asked
	AskMore int            `json:"ask_more"` // people would have been asked
	Ends    map[string]int `json:"ends"`     // by the state that they would have ended in
	Works   int            `json:"works"`    // a role would have worked, with a result that nobody knows
	// Cases are the instances that would have gone elsewhere, or may have.
	Cases   []whatif.Case `json:"cases"`
	Seconds float64       `json:"seconds"`
}

// NewWhatIf sums cases.
func NewWhatIf(all []whatif.Case, took time.Duration) WhatIf {
	w := WhatIf{Ends: map[string]int{}, Cases: []whatif.Case{}, Instances: len(all), Seconds: took.Round(time.Millisecond).Seconds()}
	for _, c := range all {
		w.Commits += c.Commits
		if c.Same() {
			w.Same++
			continue
		}
		w.Cases = append(w.Cases, c)
		asked, asks := c.Recorded.Then == whatif.Asks, c.Instead.Then == whatif.Asks
		switch {
		case c.Unknown != "":
			w.Unknown++
			continue
		case asked && !asks:
			w.AskLess++
		case asks && !asked:
			w.AskMore++
		}
		switch c.Instead.Then {
		case whatif.Ends:
			w.Ends[c.Instead.State]++
		case whatif.Works:
			w.Works++
		}
	}
	return w
}

// Print prints the sums, and a line for each instance that would have gone elsewhere.
func (w WhatIf) Print(env *term.Env) error {
	if env.JSON {
		return env.Print(w)
	}
	p := page{env}
	p.field("decided", fmt.Sprintf("%d commits of %s, in %s", w.Commits, Count(w.Instances, "instance"), term.Duration(time.Duration(w.Seconds*float64(time.Second)))))
	p.field("same", fmt.Sprintf("%d of %d go where they went", w.Same, w.Instances))
	if n := w.Instances - w.Same - w.Unknown; n > 0 {
		p.field("elsewhere", fmt.Sprintf("%d: %s", n, w.Differences()))
	}
	if w.Unknown > 0 {
		p.field("unknown", Count(w.Unknown, "instance"))
	}
	if len(w.Cases) == 0 {
		return nil
	}
	env.Printf("\n")
	t := env.Table("instance", "seq", "recorded", "instead", "and then, in the record")
	for _, c := range w.Cases[:min(len(w.Cases), shown)] {
		if c.Unknown != "" {
			t.Row(c.Instance, c.Seq, "", "unknown: "+c.Unknown, "")
			continue
		}
		t.Row(c.Instance, c.Seq, Landed(c.Recorded), Landed(c.Instead), Tail(c))
	}
	if err := t.Print(); err != nil {
		return err
	}
	if n := len(w.Cases) - shown; n > 0 {
		env.Printf("and %d more; --json has all\n", n)
	}
	return nil
}

// Differences says how many instances would have gone where.
func (w WhatIf) Differences() string {
	var parts []string
	add := func(n int, text string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
		}
	}
	add(w.AskLess, "without a question to people")
	add(w.AskMore, "with a question to people")
	for _, state := range sortedStates(w.Ends) {
		add(w.Ends[state], "to their end in "+state)
	}
	add(w.Works, "to work whose result is unknown")
	return strings.Join(parts, ", ")
}

func sortedStates(ends map[string]int) []string {
	var all []string
	for state := range ends {
		all = append(all, state)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(ends[b], ends[a]), cmp.Compare(a, b)) })
	return all
}

// Landed is a landing in a few words.
func Landed(l whatif.Landing) string {
	text := l.State
	switch l.Then {
	case whatif.Ends:
		text += ", the end"
	case whatif.Asks:
		text += ", waiting for people"
	case whatif.Works:
		text += ", work for " + l.Role
	case whatif.Rests:
		text += ", at rest"
	}
	if l.Reason != "" {
		text += " (" + term.Line(l.Reason) + ")"
	}
	return text
}

// Tail says what followed in the record.
func Tail(c whatif.Case) string {
	parts := []string{Count(c.Tail.Moves, "move"), Count(c.Tail.Steps, "step")}
	if c.Tail.Questions > 0 {
		parts = append(parts, Count(c.Tail.Questions, "question"))
	}
	if c.Tail.USD > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", c.Tail.USD))
	}
	if c.Tail.Time > 0 {
		parts = append(parts, term.Duration(c.Tail.Time))
	}
	end := "still open"
	if c.Ended != "" {
		end = "ended in " + c.Ended
	}
	return strings.Join(append(parts, end), ", ")
}
