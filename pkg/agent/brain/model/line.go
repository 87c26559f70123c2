package model

import "strings"

// maxSaid is how much of a line people are shown, in bytes.
const maxSaid = 200

// liner tells what comes in pieces line by line.
type liner struct {
	tell func(line string)
	buf  strings.Builder
}

func (l *liner) add(text string) {
	for {
		line, rest, found := strings.Cut(text, "\n")
		if room := maxSaid - l.buf.Len(); room > 0 {
			l.buf.WriteString(line[:min(len(line), room)])
		}
		if !found {
			return
		}
		l.flush()
		text = rest
	}
}

func (l *liner) flush() {
	if line := strings.TrimSpace(strings.ToValidUTF8(l.buf.String(), "")); line != "" {
		l.tell(line)
	}
	l.buf.Reset()
}
