package sanitize

import (
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/signalbox/signalbox/pkg/base/markdown"
)

// Markdown returns s as it may be repeated as Markdown. Code stays as it is. The rest
// notifies nobody, closes no issue, gives no command at the start of a line and hides no
// text; images, HTML, and links that do not show where they lead show as their source text.
// All that was changed is visible, or is an escape of Markdown. Its own Markdown stays: a
// text that must not end the block it stands in belongs into Quote or Verbatim. A text that
// is too complex becomes a block of code.
func Markdown(s string) string { return harmless(Terminal(s), Verbatim, "") }

// within stands for the words before a text that is put within a line.
const within = "x "

// MarkdownLine returns s as Markdown within a line, at its beginning or later. A text that
// is too complex becomes code.
func MarkdownLine(s string) string { return harmless(line(Terminal(s)), Code, within) }

// harmless makes Markdown harmless, also after the words of its line that stand before it.
// Where that fails it returns the text otherwise.
func harmless(s string, otherwise func(string) string, before string) string {
	was := s
	for range maxRounds {
		edits, err := liveEdits(s, before)
		if err != nil {
			return otherwise(simple(was))
		}
		next := apply(s, edits)
		if next == s {
			if len(lives(s, edits)) > 0 { // an edit that changes nothing: it cannot be made harmless
				return otherwise(was)
			}
			if before == "" && !ends(s) {
				return otherwise(was)
			}
			return s
		}
		s = next
	}
	return otherwise(was)
}

// ends reports whether a text ends its last block, so that what follows it is none of it.
func ends(s string) bool {
	const next = "next"
	doc, err := markdown.Parse([]byte(s + "\n\n" + next))
	if err != nil {
		return false
	}
	last, ok := doc.LastChild().(*ast.Paragraph)
	return ok && last.Lines().Len() == 1 && last.Pos() == len(s)+2
}

// maxComplex is how much of a text is repeated that is too complex, in bytes.
const maxComplex = 2000

// simple returns the beginning of a text that is too complex, so that it can be parsed as
// code within another text.
func simple(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxComplex)], "") + "\n[…] the rest is too complex to be repeated"
}

// maxMarks is how many marks of quotes and lists a line of code may begin with.
const maxMarks = 20

// shallow returns code whose lines do not begin with so many marks of quotes and lists that
// the text could not be parsed any more if it were no code.
func shallow(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		before := l[:len(l)-len(strings.TrimLeft(l, " \t>*+-0123456789.)"))]
		spaces, digits := strings.Count(before, " ")+strings.Count(before, "\t"), len(before)-len(strings.TrimLeft(before, "0123456789"))
		if marks := len(before) - spaces - digits + spaces/2; marks > maxMarks && spaces < len(before) {
			lines[i] = "| " + l
		}
	}
	return strings.Join(lines, "\n")
}

// liveEdits returns the edits that make s harmless, alone and after the words.
func liveEdits(s, before string) ([]edit, error) {
	p, err := read(s, before != "")
	if err != nil || before == "" {
		return p.edits, err
	}
	after, err := read(before+s, true)
	if err != nil {
		return nil, err
	}
	edits := p.edits
	for _, e := range after.edits {
		if e.from -= len(before); e.from >= 0 {
			e.to -= len(before)
			edits = append(edits, e)
		}
	}
	return edits, nil
}

// LiveMarkdown returns the live places of Markdown, in their order, and the text that it
// shows, without its code. A text that is too complex to be parsed is one live place.
func LiveMarkdown(s string) (all []Live, shown string) {
	p, err := readBy(markdown.ParseComposed, s, false)
	if err != nil {
		return []Live{{Rule: "complex", Text: err.Error()}}, ""
	}
	return lives(s, p.edits), strings.NewReplacer("\x00", "", "\x01", " ").Replace(string(p.shown))
}

// Cell returns s as Markdown within a cell of a table.
func Cell(s string) string { return strings.ReplaceAll(MarkdownLine(s), "|", `\|`) }

// Quote returns s as a block quote, sanitized as Markdown.
func Quote(s string) string {
	quoted := prefixed(Markdown(s))
	if live, _ := LiveMarkdown(quoted); len(live) > 0 { // as code, the text is the same within a quote
		quoted = prefixed(Verbatim(Terminal(s)))
	}
	return quoted
}

func prefixed(s string) string {
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("> "+l, " \t")
	}
	return strings.Join(lines, "\n")
}

// Code returns s as a code span, its lines joined.
func Code(s string) string {
	s = line(Terminal(s))
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
	s = shallow(strings.Trim(Terminal(s), "\n"))
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
