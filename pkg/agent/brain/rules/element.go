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

// part is an element of one kind of report: what it weighs in the confidence
// and how it is asked for.
type part struct {
	element
	weight float64
	label  string // begins the question; tells later which element it was about
	ask    string // %s is the report's subject in quotes
}

// parts are the elements of a kind, weighed so that they add up to 1. With the threshold at
// 0.85 a bug report may lack where it is or when it is done, but not both. A request may
// lack where alone.
func parts(k kind) []part {
	if k == feature {
		return []part{
			{what, 0.40, "What", "What should %s do, as you would use it? An example of use and its result says the most."},
			{why, 0.25, "Why", "What do you need %s for? What do you do today without it?"},
			{acceptance, 0.25, "Done when", "How will you know that %s is done? An input with the right result is enough."},
			{scope, 0.10, "Where", "Where does %s belong: which command, function, file or page?"},
		}
	}
	return []part{
		{steps, 0.20, "Steps to reproduce", "What has to be done to see %s? Please list the commands, the input or the clicks, in order."},
		{expected, 0.25, "What should happen", "What should happen instead of %s? Please give the exact result you expect."},
		{actual, 0.30, "What happens", "About %s: what exactly happens? Please quote the output, the error message or the value you see."},
		{scope, 0.15, "Where", "Where do you see %s: which command, function, file or page, and which version?"},
		{acceptance, 0.10, "Done when", "How will you know that %s is solved? Please say what holds then, in other cases as well."},
	}
}

// question asks the reporter for the part.
func (p part) question(subject string) string {
	return "**" + p.label + ".** " + fmt.Sprintf(p.ask, subject)
}

// isAbout reports whether the question asks for the part.
func (p part) isAbout(question string) bool { return strings.HasPrefix(question, "**"+p.label+".** ") }
