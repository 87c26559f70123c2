package rules

import "regexp"

// apart is a space without width: it keeps a forge from reading a meaning into
// a text and shows nowhere.
const apart = "\u200b"

var (
	mention = regexp.MustCompile(`(^|[^\w/.@])@(\w)`)
	closing = regexp.MustCompile(`(?i)\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(:?\s+)((?:[\w.-]+/[\w.-]+)?#|GH-|https?:/)(\w|/)`)
	hidden  = regexp.MustCompile(`<!--`)
	command = regexp.MustCompile(`(?m)^([ \t]*)/([a-z])`)
)

// neutral is a text of others as it can be repeated: it notifies nobody, closes
// no issue, hides nothing and commands nothing.
func neutral(s string) string {
	s = mention.ReplaceAllString(s, "$1@"+apart+"$2")
	s = closing.ReplaceAllString(s, "$1$2$3"+apart+"$4")
	s = hidden.ReplaceAllString(s, "<"+apart+"!--")
	return command.ReplaceAllString(s, "$1"+apart+"/$2")
}
