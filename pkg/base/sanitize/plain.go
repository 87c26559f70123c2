package sanitize

import (
	"slices"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// maxRounds is how often a text is looked at again after it was changed.
const maxRounds = 12

// Subject returns s as the subject of a commit or the title of an issue, a pull request, a
// merge or a check. It is one line that notifies nobody, closes no issue, commands no bot,
// keeps no check from running and vouches for nobody. All that was changed is visible: "/login fails" becomes
// "`/login` fails", and "@ann" becomes "@ ann".
func Subject(s string) string { return plain(line(Terminal(s))) }

// Message returns s as the text below the subject of a commit, or below the title of a
// merge. It has the properties of Subject.
func Message(s string) string { return plain(Terminal(s)) }

// plain makes plain text harmless.
func plain(s string) string {
	for range maxRounds {
		edits := plainEdits(s)
		if len(edits) == 0 {
			return s
		}
		s = apply(s, edits)
	}
	return "Text: " + blunt.ReplaceAllString(s, " ") // the rules work against each other
}

// blunt matches all that could be live.
var blunt = lazyregexp.New(`[^\p{L}\p{N} .,\n]+|(?i:skip)|\bno\b`)

func plainEdits(s string) (edits []edit) {
	for _, r := range rules {
		for _, at := range r.matches(s) {
			edits = append(edits, edit{r.name, at, r.replacement(s, at)})
		}
	}
	return edits
}

// LivePlain returns the live places of a commit's message or of a title, in their order.
func LivePlain(s string) []Live { return lives(s, plainEdits(s)) }

func lives(s string, edits []edit) (all []Live) {
	for _, e := range edits {
		if e.rule != "" {
			all = append(all, Live{e.rule, e.from, s[e.from:e.to]})
		}
	}
	slices.SortStableFunc(all, func(a, b Live) int { return a.At - b.At })
	return all
}
