package eval

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

var (
	mergeSubject = lazyregexp.New(`^Merge (?:pull request|branch|remote-tracking branch)\b`)
	numberAtEnd  = lazyregexp.New(`\s*\((?:#|GH-|!)\d+\)$`)
	trailer      = lazyregexp.New(`^(?:[A-Za-z][A-Za-z-]*-[Bb]y|Change-Id|Reviewed-on|PiperOrigin-RevId|Signalbox-[A-Za-z]+): `)
)

// parseMessage returns the text of a case from a commit's message: without trailers, and
// without what names the pull request. A merge has its title in its first line of text.
func parseMessage(message string) (title, body string) {
	var lines []string
	for line := range strings.Lines(message) {
		if line = strings.TrimSpace(line); !trailer.MatchString(line) {
			lines = append(lines, line)
		}
	}
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	title, body, _ = strings.Cut(text, "\n")
	if mergeSubject.MatchString(title) && strings.TrimSpace(body) != "" {
		title, body, _ = strings.Cut(strings.TrimSpace(body), "\n")
	}
	return numberAtEnd.ReplaceAllString(strings.TrimSpace(title), ""), strings.TrimSpace(body)
}
