package term

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/sanitize"
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
