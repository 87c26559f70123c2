// Package sanitize makes texts of strangers and models safe to repeat in Markdown on a
// forge and on a terminal. On a forge they could notify people, close issues, hide things,
// give commands and end the quote that they stand in. On a terminal they could move the
// cursor and set titles.
//
// All functions are total: any bytes may be given. Characters that would show
// nothing, or change the direction of what follows, are shown as ‹U+202E›.
package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text returns s as valid UTF-8 in which lines end with \n. Each character but \n and \t is
// one that shows something.
func text(s string) string {
	if clear(s) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var out strings.Builder
	var before rune
	for _, r := range s {
		switch {
		case r == '\r', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
			out.WriteByte('\n')
		case hidden(before, r):
			fmt.Fprintf(&out, "‹U+%04X›", r)
		default:
			out.WriteRune(r)
		}
		before = r
	}
	return out.String()
}

// clear reports whether text would return s as it is.
func clear(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// hidden reports whether a character is a control, or shows nothing, or changes
// the direction of the text. The joiners and the variation selectors of emoji and
// of some scripts are not hidden where they can have an effect: after a character that
// they may belong to.
func hidden(before, r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r == '\u200c', r == '\u200d':
		return before < utf8.RuneSelf || unicode.Is(unicode.Cf, before)
	case r >= '\ufe00' && r <= '\ufe0f': // a digit, # or * and a selector make a keycap
		return before < utf8.RuneSelf && !strings.ContainsRune("0123456789#*", before) || before == 0 || before >= '\ufe00' && before <= '\ufe0f' || unicode.Is(unicode.Cf, before)
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		return true
	case r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0', r == '\u034f', r == '\u17b4', r == '\u17b5', r == '\u2800':
		return true // they are letters and marks, and show nothing
	}
	return r >= 0xe0000 && r <= 0xe0fff
}

// zeroWidth is a space that shows nothing. Earlier versions put it where a forge would
// have read a meaning; texts in the log still have it.
const zeroWidth = "\u200b"

// Terminal returns s as it may be printed on a terminal. It drops spaces without width, so
// that a word that one of them splits is whole again.
func Terminal(s string) string { return text(strings.ReplaceAll(s, zeroWidth, "")) }

// TerminalLine returns s as it may be printed within a line of a terminal.
func TerminalLine(s string) string { return line(Terminal(s)) }

// Lines returns the lines of s, each as it may be printed on a terminal.
func Lines(s string) []string { return strings.Split(Terminal(s), "\n") }

// line joins the lines of s by spaces.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }
