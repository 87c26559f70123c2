package report

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxBody is the longest body of an issue in characters, as on GitHub.
const MaxBody = 65536

// Where the whole of a shortened report is, for Shorten.
const (
	InFile     = "is in the file that SIGNALBOX_REPORT names"
	AtReporter = "was given to signalbox open, which sends no more than this; ask on the issue for the part that is missing"
)

// Shorten returns a body of at most MaxBody characters: the beginning and the end of a
// longer one, with a sentence between them that says how much is left out, and where the
// whole report is. Cut reports whether it left something out.
func Shorten(body, where string) (short string, cut bool) {
	if utf8.RuneCountInString(body) <= MaxBody {
		return body, false
	}
	const part = 24 << 10 // bytes at each end
	head, tail := body[:part], body[len(body)-part:]
	if i := strings.LastIndexByte(head, '\n'); i > part/2 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < part/2 {
		tail = tail[i+1:]
	}
	fenced := ""
	var m marks
	for line := range strings.Lines(head) {
		m.inside(strings.TrimRight(line, "\n"))
	}
	if m.fence != "" { // what is cut was code: the sentence is none
		fenced = m.fence
	}
	left := len(body) - len(head) - len(tail)
	return strings.ToValidUTF8(head, "") + closing(fenced) + fmt.Sprintf("\n\n(%d bytes are left out here. The whole report, of %d bytes with the SHA-256 %.12x, "+
		"%s.)\n\n", left, len(body), sha256.Sum256([]byte(body)), where) + opening(fenced) +
		strings.ToValidUTF8(tail, ""), true
}

func closing(fence string) string {
	if fence == "" {
		return ""
	}
	return "\n" + fence
}

func opening(fence string) string {
	if fence == "" {
		return ""
	}
	return fence + "\n"
}
