package report

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Patterns of CommonMark lines that decide which line is the title.
var (
	atx       = lazyregexp.New(`^ {0,3}#{1,6}(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$`)
	underline = lazyregexp.New(`^ {0,3}(=+|-+)[ \t]*$`)
	fence     = lazyregexp.New("^ {0,3}(`{3,}|~{3,})([^`]*)$")
	// Lines that cannot start a paragraph: code, a quote, a list, a rule, HTML.
	notProse = lazyregexp.New(`^(?: {4}|\t| {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]|(?:[-*_][ \t]*){3,}$|<))`)
)

// title returns the first heading, or without one the first line if it is prose, and
// the lines without it.
func title(lines []string) (string, []string) {
	first, from, to := "", -1, -1 // the first line of prose, and the paragraph under way
	var m marks
	for i, line := range lines {
		if m.inside(line) || strings.TrimSpace(line) == "" {
			from = -1
			continue
		}
		if h := atx.FindStringSubmatch(line); h != nil {
			if h[1] != "" {
				return h[1], without(lines, i, i)
			}
			from = -1
			continue
		}
		if from >= 0 && underline.MatchString(line) {
			return paragraph(lines[from:i]), without(lines, from, i)
		}
		if from < 0 && notProse.MatchString(line) {
			continue
		}
		if from < 0 && first == "" && blank(lines[:i]) {
			first, to = strings.TrimSpace(line), i
		}
		if from < 0 {
			from = i
		}
	}
	if first != "" {
		return first, without(lines, to, to)
	}
	return "", lines
}

// marks tracks which block a line is part of.
type marks struct {
	fence   string // the marker that opened the code block
	comment bool
}

// inside reports whether the line belongs to a fenced code block or an HTML comment.
func (m *marks) inside(line string) bool {
	if m.comment || m.fence == "" && strings.HasPrefix(strings.TrimSpace(line), "<!--") {
		m.comment = !strings.Contains(line, "-->")
		return true
	}
	f := fence.FindStringSubmatch(line)
	switch {
	case m.fence == "" && f != nil:
		m.fence = f[1]
		return true
	case f != nil && strings.HasPrefix(f[1], m.fence) && strings.TrimSpace(f[2]) == "":
		m.fence = ""
		return true
	}
	return m.fence != ""
}

func paragraph(lines []string) string {
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

func without(lines []string, from, to int) []string {
	return append(append([]string{}, lines[:from]...), lines[to+1:]...)
}

func blank(lines []string) bool { return strings.TrimSpace(strings.Join(lines, "")) == "" }
