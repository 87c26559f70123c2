package term

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
)

// Line returns untrusted text as one line that is safe to print.
func Line(s string) string { return sanitize.TerminalLine(s) }

// Text returns untrusted text that is safe to print. It keeps line breaks.
func Text(s string) string {
	lines := sanitize.Lines(s)
	for i, line := range lines {
		lines[i] = strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " ")
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

// JSON returns the same JSON, with characters that do not show or turn the text around as
// escapes. It may be printed on a terminal, and reads as before.
func JSON(text []byte) []byte {
	s := string(text)
	if sanitize.FirstHidden(s) < 0 {
		return text
	}
	var out bytes.Buffer
	for {
		at := sanitize.FirstHidden(s)
		if at < 0 {
			out.WriteString(s)
			return out.Bytes()
		}
		out.WriteString(s[:at])
		r, size := utf8.DecodeRuneInString(s[at:])
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		s = s[at+size:]
	}
}
