package outbound

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/base/secret"
)

// chunk is how much text is scanned at a time, in bytes. Each chunk begins with the end of
// the one before, so that no secret falls between two.
const chunk, overlap = 64 << 10, 1 << 10

var commitLine = lazyregexp.New(`^[0-9a-f]{40}(?:[0-9a-f]{24})?$`)

var hunk = lazyregexp.New(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// patchScanner finds secrets, and characters that turn text around, in the added lines of a patch without context that
// is written to it. Lines that follow each other are scanned together: a secret
// may be split over several.
type patchScanner struct {
	secrets *secret.Scanner
	report  func(Finding)

	commit   string
	path     string
	line     int    // number of the next added line
	old, new int    // lines left in the hunk
	begun    []byte // of a line whose end was not written yet, or its first bytes
	added    bool   // that line is an added one, and is in text already

	text  bytes.Buffer // added lines
	first int          // number of the first
}

// Write takes a piece of the patch.
func (s *patchScanner) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		piece, rest, whole := bytes.Cut(p, []byte("\n"))
		s.take(piece, whole)
		p = rest
	}
	return n, nil
}

// take adds a piece of a line. whole means that it ends the line.
func (s *patchScanner) take(piece []byte, whole bool) {
	switch {
	case s.added:
		s.add(piece)
	case len(s.begun) == 0 && s.inHunk() && bytes.HasPrefix(piece, []byte("+")):
		s.added = true
		s.add(piece[1:])
	case len(s.begun) < chunk: // of other lines only headers matter, and they are short
		s.begun = append(s.begun, piece...)
	}
	if !whole {
		return
	}
	if s.added {
		s.add([]byte("\n"))
		s.new--
		s.line++
	} else {
		s.flush()
		s.header(s.begun)
	}
	s.begun, s.added = s.begun[:0], false
}

func (s *patchScanner) inHunk() bool { return s.old > 0 || s.new > 0 }

// header reads a line of the patch that adds nothing.
func (s *patchScanner) header(line []byte) {
	switch {
	case s.inHunk():
		if bytes.HasPrefix(line, []byte("-")) {
			s.old--
		}
	case bytes.HasPrefix(line, []byte("+++ ")):
		name := strings.TrimSuffix(string(line[4:]), "\t") // git ends names with spaces so
		if unquoted, err := strconv.Unquote(name); err == nil {
			name = unquoted
		}
		s.path = strings.TrimPrefix(name, "b/")
	case commitLine.Match(line):
		s.commit, s.path = string(line), ""
	default:
		if m := hunk.FindSubmatch(line); m != nil {
			s.old, s.line, s.new = count(m[1]), count(m[2]), count(m[3])
		}
	}
}

func (s *patchScanner) add(text []byte) {
	if s.text.Len() == 0 {
		s.first = s.line
	}
	s.text.Write(text)
	if s.text.Len() < chunk+overlap {
		return
	}
	s.scan()
	dropped := s.text.Next(s.text.Len() - overlap)
	s.first += bytes.Count(dropped, []byte("\n"))
}

// flush scans the rest of a run of adjacent lines.
func (s *patchScanner) flush() {
	if s.text.Len() > 0 {
		s.scan()
		s.text.Reset()
	}
}

func (s *patchScanner) scan() {
	for _, f := range s.secrets.Scan(s.text.String()) {
		s.report(Finding{Rule: "secret", Commit: s.commit, Path: s.path, Line: s.first + f.Line - 1, Detail: f.What()})
	}
	text := s.text.String()
	if at := sanitize.FirstTurning(text); at >= 0 {
		s.report(Finding{
			Rule: "bidi", Commit: s.commit, Path: s.path, Line: s.first + strings.Count(text[:at], "\n"),
			Detail: "a character that turns the text around, so that it reads otherwise than it runs",
		})
	}
}

// count reads a number of a hunk's header, 1 when it is left out.
func count(b []byte) int {
	if len(b) == 0 {
		return 1
	}
	n, _ := strconv.Atoi(string(b))
	return n
}
