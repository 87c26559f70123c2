// Package question is the form of an answer: its kind, its options, its default. All channels by which
// people answer read an answer with Read, so that each accepts the same.
package question

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is the kind of an answer. Kinds are wire names.
type Kind string

const (
	Text   Kind = "" // any words
	Choice Kind = "choice"
	YesNo  Kind = "yes_no"
	Number Kind = "number"
)

// The answers to a question of the kind YesNo.
const (
	Yes = "yes"
	No  = "no"
)

// Form is the form of the answer to a question. The zero Form permits any words.
type Form struct {
	Kind    Kind     `json:"kind,omitempty"`
	Options []string `json:"options,omitempty"` // of a Choice, in their order; the first has the letter a
	Default string   `json:"default,omitempty"` // as Read returns it; empty: none
	Reason  string   `json:"reason,omitempty"`  // why it is asked
}

// Wanted is a form as an asker states it.
type Wanted struct {
	Form
	Within time.Duration `json:"within,omitempty"` // how long people have to answer; 0: for ever
}

// Bounds of a form.
const (
	MinOptions = 2
	MaxOptions = 20
	maxOption  = 200
	maxReason  = 2000
	MaxWithin  = 365 * 24 * time.Hour
)

// ErrForm means that a question cannot be put in this form. Its text names the mistake.
var ErrForm = errors.New("the question has no form that people can answer")

// Clean returns the form with its texts trimmed and its default as Read returns it, or an ErrForm.
func (w Wanted) Clean() (Wanted, error) {
	wrong := func(format string, args ...any) (Wanted, error) {
		return w, fmt.Errorf("%w: %s", ErrForm, fmt.Sprintf(format, args...))
	}
	w.Reason = strings.TrimSpace(w.Reason)
	w.Options = slices.Clone(w.Options)
	for i, o := range w.Options {
		w.Options[i] = strings.TrimSpace(o)
	}
	switch w.Kind {
	case Choice:
		if n := len(w.Options); n < MinOptions || n > MaxOptions {
			return wrong("a choice has %d to %d options, and this one %d", MinOptions, MaxOptions, n)
		}
	case Text, YesNo, Number:
		if len(w.Options) > 0 {
			return wrong("only a choice has options")
		}
	default:
		return wrong("kind %q: want choice, yes_no or number, or none for a text", w.Kind)
	}
	for i, o := range w.Options {
		switch {
		case o == "" || len(o) > maxOption || strings.ContainsAny(o, "\r\n"):
			return wrong("option %d: want one line of 1 to %d bytes", i+1, maxOption)
		case slices.ContainsFunc(w.Options[:i], func(before string) bool { return strings.EqualFold(before, o) }):
			return wrong("option %q is there twice", o)
		}
	}
	switch {
	case len(w.Reason) > maxReason:
		return wrong("the reason has %d bytes, want at most %d", len(w.Reason), maxReason)
	case w.Within < 0 || w.Within > MaxWithin:
		return wrong("people cannot answer within %s; want at most %s", w.Within, MaxWithin)
	}
	if w.Default = strings.TrimSpace(w.Default); w.Default == "" {
		return w, nil
	}
	value, more, err := w.Read("", w.Default)
	if err != nil || more != "" {
		return wrong("the default %q is no answer to it", w.Default)
	}
	w.Default = value
	return w, nil
}

// Letter is the letter of an option, counted from 0.
func Letter(i int) string { return string(rune('a' + i)) }

// Permitted lists the permitted answers for people; empty: any words are.
func (f Form) Permitted() []string {
	switch f.Kind {
	case Choice:
		all := make([]string, len(f.Options))
		for i, o := range f.Options {
			all[i] = Letter(i) + ") " + o
		}
		return all
	case YesNo:
		return []string{Yes, No}
	case Number:
		return []string{"a number, such as 14 or 2.5"}
	}
	return nil
}

// Lines describes the form for people: the options with their letters, or how to answer, then what
// happens without an answer, then the reason. It is empty if any words are an answer at any time.
func (f Form) Lines(deadline time.Time) (options, more []string) {
	switch f.Kind {
	case Choice:
		for i, o := range f.Permitted() {
			if f.Options[i] == f.Default {
				o += " (default)"
			}
			options = append(options, o)
		}
	case YesNo:
		more = append(more, "Answer yes or no.")
	case Number:
		more = append(more, "Answer with a number.")
	}
	at := deadline.UTC().Format("2006-01-02 15:04 UTC")
	switch {
	case f.Default != "" && !deadline.IsZero():
		more = append(more, fmt.Sprintf("Without an answer, “%s” is taken at %s.", f.Default, at))
	case f.Default != "" && f.Kind != Choice:
		more = append(more, "The default is "+f.Default+".")
	case !deadline.IsZero():
		more = append(more, "An answer is wanted until "+at+".")
	}
	if f.Reason != "" {
		more = append(more, "Why: "+f.Reason)
	}
	return options, more
}
