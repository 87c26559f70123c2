package report

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

var (
	// prefix matches a title that says nothing, or only the kind: "", "[BUG]", "Bug:", "[Feature]: ".
	prefix = lazyregexp.New(`^(?:\[[^\]]*\]:?|[\p{L}]+:)?\s*$`)
	// label matches a line that asks for something: a heading, or a line that is wholly bold.
	label = lazyregexp.New(`^(?:#{1,6}\s.*|\*\*[^*]+\*\*:?|__[^_]+__:?)\s*$`)
	// question matches what templates and forms ask for, from its beginning to its end: "Steps are skipped" is a title.
	question = lazyregexp.New(`(?i)^(?:describe\b.*|(?:bug |feature )?description(?: of .*)?|what (?:happened|went wrong)|what (?:happened|is|went|did|do|were|version)\b.*\?|` +
		`summary|steps(?: to .*)?|(?:how )?to reproduce(?: .*)?|reproduction(?: steps)?|(?:expected|actual|current)(?: behaviou?r| results?| output)?|` +
		`is there an existing\b.*|is your feature\b.*|contact details|prerequisites|checklist|preflight\b.*|environment|versions?(?: info.*)?|additional context|` +
		`relevant log\b.*|problem|bug|issue)\??$`)
	sentence = lazyregexp.New(`[.!?](?:\s|$)`)
	empty    = lazyregexp.New(`(?i)^(?:_?no response_?|n/?a|none|-)$`)
	box      = lazyregexp.New(`^[-*+]\s+\[[ xX]\]`)
)

// maxSentence is the length in characters to which the title of a template is cut.
const maxSentence = 100

// asks reports whether a heading is a template's question, not a title.
func asks(heading string) bool {
	return question.MatchString(strings.Trim(heading, " *_#:"))
}

// answered returns the first sentence that a person wrote below the questions of a template;
// "" if there is none.
func answered(lines []string) string {
	var m marks
	for _, line := range lines {
		text := strings.TrimSpace(line)
		if m.inside(line) || text == "" || label.MatchString(text) || notProse.MatchString(line) || box.MatchString(text) || empty.MatchString(text) {
			continue
		}
		if at := sentence.FindStringIndex(text); at != nil {
			text = text[:at[0]]
		}
		if runes := []rune(text); len(runes) > maxSentence {
			text = strings.TrimSpace(string(runes[:maxSentence-1])) + "…"
		}
		return text
	}
	return ""
}
