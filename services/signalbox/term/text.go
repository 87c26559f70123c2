package term

import (
	"strings"
	"unicode"
)

// Line is text from anybody as one harmless line: control characters, line
// breaks and sequences that would steer the terminal become blanks.
func Line(s string) string {
	return strings.Join(strings.Fields(strings.Map(tame, s)), " ")
}

// Text is text from anybody with its line breaks, and otherwise as harmless.
func Text(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(strings.Map(tame, strings.ReplaceAll(line, "\t", "    ")), " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// Indent puts indent before each line that is not empty.
func Indent(s, indent string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = indent + line
		}
	}
	return strings.Join(lines, "\n")
}

// tame makes a blank of what is not printed: C0 and C1 controls, and the marks
// that turn the direction of text around.
func tame(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return ' '
	}
	return r
}
