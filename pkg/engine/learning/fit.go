package learning

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxInPrompt limits the learnings of one prompt.
	MaxInPrompt = 12
	// MaxUnconfirmed limits those of them that nothing has confirmed.
	MaxUnconfirmed = 3
)

// Need is the work that a prompt is about.
type Need struct {
	Instance    string   // whose own notes the prompt has already
	Paths       []string // files that the work has changed so far
	Text        string   // what names further ones
	Unconfirmed bool     // learnings that nothing has confirmed may be there, if no stranger was heard
}

// Fit returns the learnings that a prompt gets, of a List: those about what the work
// changes or names before those about the whole repository, in the order of the list.
func Fit(all []Learning, n Need) []Learning {
	var near, whole, unconfirmed []Learning
	for _, l := range all {
		about := l.Path != "" && n.about(l.Path)
		switch {
		case !l.Counts(), l.Path != "" && !about:
		case l.State == StateProposed:
			if n.Unconfirmed && l.Trusted && (l.Instance == "" || l.Instance != n.Instance) && len(unconfirmed) < MaxUnconfirmed {
				unconfirmed = append(unconfirmed, l)
			}
		case about:
			near = append(near, l)
		default:
			whole = append(whole, l)
		}
	}
	fit := slices.Concat(near, whole, unconfirmed)
	return fit[:min(len(fit), MaxInPrompt)]
}

// about reports whether the work changes or names what is at a path, or below it.
func (n Need) about(p string) bool {
	return names(n.Text, p) || slices.ContainsFunc(n.Paths, func(file string) bool {
		return file == p || strings.HasPrefix(file, p+"/")
	})
}

// names reports whether a text has a path, not as a part of another word or path.
func names(text, p string) bool {
	for at := 0; ; at += len(p) {
		i := strings.Index(text[at:], p)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, size := utf8.DecodeRuneInString(text[at+len(p):])
		next, _ := utf8.DecodeRuneInString(text[at+len(p)+size:])
		if !inName(before) && before != '/' && before != '.' && !inName(after) && !(after == '.' && inName(next)) {
			return true
		}
	}
}

func inName(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-')
}
