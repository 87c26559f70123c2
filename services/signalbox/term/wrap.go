package term

import "strings"

// Wrap breaks lines at blanks into lines of at most width characters, where it can; 0 or
// less is no limit. A continued line is indented as its first is.
func Wrap(text string, width int) string {
	if width <= 0 {
		return text
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if len(indent) > width/2 {
			indent = ""
		}
		for {
			at := breakAt([]rune(line), len(indent), width)
			if at < 0 {
				break
			}
			r := []rune(line)
			lines = append(lines, strings.TrimRight(string(r[:at]), " "))
			line = indent + strings.TrimLeft(string(r[at:]), " ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// breakAt returns the blank at which a line is broken. It is the last one within the width
// or, of a word that is longer, the one behind it. It is -1 if the line is not broken.
func breakAt(line []rune, indent, width int) int {
	if len(line) <= width {
		return -1
	}
	for at := width; at > indent; at-- {
		if line[at] == ' ' && strings.TrimSpace(string(line[:at])) != "" {
			return at
		}
	}
	for at := width + 1; at < len(line); at++ {
		if line[at] == ' ' && strings.TrimSpace(string(line[at:])) != "" {
			return at
		}
	}
	return -1
}
