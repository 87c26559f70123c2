package term

import (
	"strings"
	"unicode"
)

// Line returns untrusted text as one line that is safe to print: it replaces control
// characters, line breaks and escape sequences with blanks.
func Line(s string) string {
	return strings.Join(strings.Fields(strings.Map(tame, s)), " ")
}

// Text returns untrusted text that is safe to print. It keeps line breaks.
func Text(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(strings.Map(tame, strings.ReplaceAll(line, "\t", "    ")), " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// Indent prepends indent to each line that is not empty.
func Indent(s, indent string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = indent + line
		}
	}
	return strings.Join(lines, "\n")
}

// tame replaces with a blank what is not printable: C0 and C1 controls and the marks
// that change the direction of text.
func tame(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return ' '
	}
	return r
}
