package prompt

import (
	"regexp"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// NoteKind is the kind of notes about templates that cannot be used. They are for people:
// no prompt has them.
const NoteKind = "template"

// The text of a note around the name of the template. Logs have notes of earlier builds, so it
// stays as it is.
const (
	cannot  = "a template of the prompt cannot be used, "
	inPlace = " is in its place: "
)

// NoteText is the text of a note about templates that cannot be used. used says what the
// prompt was made from, as Prompt.String does; refused is Prompt.Refused.
func NoteText(used string, refused error) string { return cannot + used + inPlace + refused.Error() }

// Refusal is what a note says of one template that cannot be used.
type Refusal struct {
	File  string // of a repository it begins with Dir
	Wrong string // the file, mostly the line, and what is wrong there
	Used  string // what the prompt was made from
}

// wrongFile matches the file that a line of a note begins with.
var wrongFile = lazyregexp.New(`^(\S.*?` + regexp.QuoteMeta(Suffix) + `): ?\S`)

// Refusals returns what a note says, a Refusal for each template; none of a text that is
// no such note.
func Refusals(note string) (all []Refusal) {
	rest, isNote := strings.CutPrefix(note, cannot)
	used, wrong, said := strings.Cut(rest, inPlace)
	if !isNote || !said {
		return nil
	}
	for line := range strings.SplitSeq(wrong, "\n") {
		if m := wrongFile.FindStringSubmatch(line); m != nil {
			all = append(all, Refusal{File: m[1], Wrong: line, Used: used})
		} else if n := len(all); n > 0 {
			all[n-1].Wrong += "\n" + line
		}
	}
	return all
}
