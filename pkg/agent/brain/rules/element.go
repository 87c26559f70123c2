package rules

import (
	"fmt"
	"strings"
)

// element is something a good report has.
type element string

const (
	steps      element = "steps"
	expected   element = "expected"
	actual     element = "actual"
	scope      element = "scope"
	acceptance element = "acceptance"
	what       element = "what"
	why        element = "why"
)

// part is an element of one kind of report: what it weighs in the confidence.
type part struct {
	element
	weight float64
}

// parts are the elements of a kind, weighed so that they add up to 1. With the threshold at
// 0.85 a bug report may lack where it is or when it is done, but not both. A request may
// lack where alone.
func parts(k kind) []part {
	if k == feature {
		return []part{{what, 0.40}, {why, 0.25}, {acceptance, 0.25}, {scope, 0.10}}
	}
	return []part{{steps, 0.20}, {expected, 0.25}, {actual, 0.30}, {scope, 0.15}, {acceptance, 0.10}}
}

// name is what summaries call the element.
func (p part) name() string { return strings.ToLower(english.labels[p.element]) }

// question asks the reporter for the part, in the language of the report and with what the
// report says of it.
func (p part) question(r report) string {
	l := r.language
	ask := l.asks[p.element]
	switch said := ""; p.element {
	case expected:
		if said = r.says(actual); said != "" {
			ask = fmt.Sprintf(l.expectedOf, said)
		}
	case actual:
		if said = r.says(expected); r.crash {
			ask = l.errorText
		} else if said != "" {
			ask = fmt.Sprintf(l.actualOf, said)
		}
	}
	return "**" + l.labels[p.element] + ".** " + ask
}

// isAbout reports whether the question asks for the part, in any language.
func (p part) isAbout(question string) bool {
	for _, l := range spoken {
		if strings.HasPrefix(question, "**"+l.labels[p.element]+".** ") {
			return true
		}
	}
	return false
}
