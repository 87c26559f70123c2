package instance

import (
	"fmt"
	"strings"
)

// Sentence says for people whether tests show the work to be a solution. It is empty if
// there is no work yet.
func (p Proof) Sentence() string {
	switch {
	case p.Shown:
		return p.shown()
	case p.Reason == "":
		return ""
	}
	text := "UNPROVEN: " + p.Reason
	if p.Waived != "" {
		text += "; " + p.Waived + " accepted that"
	}
	return text
}

// shown names the first test that shows it, and where it failed.
func (p Proof) shown() string {
	tests := p.Judgement.Tests
	if len(tests) == 0 {
		return "tests failed on the base and pass now"
	}
	first := tests[0]
	text := fmt.Sprintf("%s failed on %.10s and passes now", first.Name, first.Base)
	if more := len(tests) - 1; more == 1 {
		text += ", and so does 1 more test"
	} else if more > 1 {
		text += fmt.Sprintf(", and so do %d more tests", more)
	}
	if by := first.By; by != "" {
		text += " (written by the " + strings.ReplaceAll(by, "-", " ") + ")"
	}
	return text
}
