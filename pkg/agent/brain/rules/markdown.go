package rules

import (
	"iter"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

var (
	// pictures say nothing that the rules can read.
	pictures = lazyregexp.New(`!\[[^\]\n]*\]\([^)\n]*\)|(?is)<img\b[^>]*>`)
	comments = lazyregexp.New(`(?s)<!--.*?(-->|$)`)
	fence    = lazyregexp.New("^ {0,3}(```+|~~~+)")
	heading  = lazyregexp.New(`^ {0,3}(?:#{1,6}\s+(.+?)\s*#*|(?:\*\*|__)([^*_]+)(?:\*\*|__)\s*:?)$`)
	labelled = lazyregexp.New(`^(?:[-*+]\s+)?(?:\*\*|__)?(\p{L}[\p{L}\p{M} ?'’/()-]{0,50}?)(?:\*\*|__)?[\s\x{a0}\x{202f}]*[:：](?:\*\*|__)?\s*(.*)$`)
	// inline is a label behind the end of a sentence.
	inline    = lazyregexp.New(`[.;,!?。；，、！？]["”»)\x60]?\s*(?:\*\*|__)?(\p{L}[\p{L}\p{M} ’'-]{0,30}?)(?:\*\*|__)?[\s\x{a0}\x{202f}]*[:：](?:\*\*|__)?(?:\s|[^/\s])`)
	blank     = lazyregexp.New(`(?i)^[\s_*.\-–—]*(no response|n/?a|none|tbd|todo|not applicable|\.\.\.|…|\[.*\])?[\s_*.\-–—]*$`)
	boxed     = lazyregexp.New(`(?im)^\s*[-*]\s+\[[ x]\]\s+(i have|i've|i am|i agree|i searched|this is not|yes|no)\b.*$`)
	word      = lazyregexp.New(`[\p{L}\p{N}]+`)
	unquoting = lazyregexp.New(`(?m)^ {0,3}>.*$`)
)

// section is a part of a report under one heading; the first has none.
type section struct {
	title string
	text  string // without code
	code  string
}

// says reports whether there is anything in the section beyond a template's blanks.
func (s section) says() bool {
	return strings.TrimSpace(s.code) != "" || !blank.MatchString(s.text) && word.MatchString(s.text)
}

// sections cuts Markdown at its headings and at lines such as "Expected: …"
// that known recognises as one.
func sections(body string, known func(title string) bool) []section {
	body = pictures.ReplaceAllString(body, "")
	body = boxed.ReplaceAllString(comments.ReplaceAllString(strings.ReplaceAll(body, "\r\n", "\n"), ""), "")
	all := []section{{}}
	fenced := ""
	for line := range lines(body, known) {
		now := &all[len(all)-1]
		m := fence.FindStringSubmatch(line)
		switch {
		case fenced != "":
			if m != nil && strings.HasPrefix(m[1], fenced) {
				fenced = ""
			} else {
				now.code += line
			}
			continue
		case m != nil:
			fenced = m[1]
			continue
		}
		if m := heading.FindStringSubmatch(strings.TrimRight(line, "\n ")); m != nil {
			all = append(all, section{title: title(m[1] + m[2])})
		} else if m := labelled.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil && known(title(m[1])) {
			all = append(all, section{title: title(m[1]), text: m[2] + "\n"})
		} else {
			now.text += line
		}
	}
	return all
}

// lines yields the lines of a text, and what follows a label within a line as one of its own.
func lines(text string, known func(title string) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			for _, part := range parted(line, known) {
				if !yield(part) {
					return
				}
			}
		}
	}
}

// parted cuts a line before each known label that follows the end of a sentence.
func parted(line string, known func(title string) bool) (all []string) {
	from := 0
	hidden := inlineCode.FindAllStringIndex(line, -1)
	for _, m := range inline.FindAllStringSubmatchIndex(line, -1) {
		in := func(span []int) bool { return span[0] < m[2] && m[2] < span[1] }
		if !known(title(line[m[2]:m[3]])) || slices.ContainsFunc(hidden, in) {
			continue
		}
		all = append(all, strings.TrimRight(line[from:m[2]], "*_ ")+"\n")
		from = m[2]
	}
	return append(all, line[from:])
}

// title is a heading as it is compared: lower case, words only.
func title(s string) string {
	return strings.Join(word.FindAllString(strings.ToLower(strings.ReplaceAll(s, "'", "")), -1), " ")
}

// plain is the text without quotes of others.
func plain(s string) string { return unquoting.ReplaceAllString(comments.ReplaceAllString(s, ""), "") }
