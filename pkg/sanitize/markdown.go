package sanitize

import (
	"regexp"
	"strings"
)

// apart is a space without width. It keeps a forge from reading a meaning into
// the characters it stands between, and shows nowhere. Markdown drops those in
// its argument: to sanitize twice is to sanitize once.
const apart = "\u200b"

var (
	// A forge looks for mentions in what was rendered, so after any character but those of
	// a word. A character reference may not make one either.
	mention   = regexp.MustCompile(`(^|[^0-9A-Za-z_])@([0-9A-Za-z_])`)
	reference = regexp.MustCompile(`&(#?[0-9A-Za-z]+;)`)
	// A backslash before punctuation does not show.
	closing = regexp.MustCompile(`(?i)\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(\\?:?[\s\p{Z}]+)((?:[\w.\\-]+\\?/[\w.\\-]+)?\\?#|GH\\?-|https?\\?:\\?/)(\w|\\?/)`)
	tag     = regexp.MustCompile(`<([A-Za-z/!?])`)
	command = regexp.MustCompile(`(?m)^([\s>*+-]*(?:[0-9]{1,9}[.)])?[\s>*+-]*)/([A-Za-z])`)
)

// Markdown returns s as it may be repeated as Markdown. It notifies nobody, closes no
// issue, has no HTML and gives no command at the start of a line. Its own Markdown stays: a
// text that must not end the block it stands in belongs into Quote or Verbatim.
func Markdown(s string) string {
	s = inert(Terminal(s))
	s = reference.ReplaceAllString(s, "&"+apart+"$1")
	s = tag.ReplaceAllString(s, "<"+apart+"$1")
	return command.ReplaceAllString(s, "$1"+apart+"/$2")
}

// MarkdownLine returns s as Markdown within a line.
func MarkdownLine(s string) string { return Markdown(line(Terminal(s))) }

// Subject returns s as the subject of a commit or the title of a pull request: it
// notifies nobody and closes no issue.
func Subject(s string) string { return inert(line(Terminal(s))) }

// inert returns s without mentions and without what closes issues.
func inert(s string) string {
	s = replace(mention, s, "$1@"+apart+"$2")
	return replace(closing, s, "$1$2$3"+apart+"$4")
}

// Cell returns s as Markdown within a cell of a table.
func Cell(s string) string { return strings.ReplaceAll(MarkdownLine(s), "|", `\|`) }

// replace replaces until nothing matches: matches may share characters.
func replace(pattern *regexp.Regexp, s, by string) string {
	for {
		next := pattern.ReplaceAllString(s, by)
		if next == s {
			return s
		}
		s = next
	}
}

// Quote returns s as a block quote, sanitized as Markdown.
func Quote(s string) string {
	lines := strings.Split(strings.Trim(Markdown(s), "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("> "+l, " \t")
	}
	return strings.Join(lines, "\n")
}

// Code returns s as a code span, its lines joined.
func Code(s string) string {
	s = line(text(s))
	if s == "" {
		return "` `"
	}
	fence := strings.Repeat("`", longest(s)+1)
	if strings.Contains(s, "`") {
		s = " " + s + " " // a renderer takes one space off each end
	}
	return fence + s + fence
}

// CodeCell returns s as a code span within a cell of a table.
func CodeCell(s string) string { return strings.ReplaceAll(Code(s), "|", `\|`) }

// Verbatim returns s as a fenced block of code.
func Verbatim(s string) string {
	s = strings.Trim(text(s), "\n")
	fence := strings.Repeat("`", max(3, longest(s)+1))
	return fence + "\n" + s + "\n" + fence
}

// longest is the length of the longest run of backticks.
func longest(s string) int {
	n, most := 0, 0
	for i := range len(s) {
		if n++; s[i] != '`' {
			n = 0
		}
		most = max(most, n)
	}
	return most
}
