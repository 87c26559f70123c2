package secret

import (
	"regexp"
	"strings"
)

// view is a text as it is scanned: as it stands, or with what hides a
// credential taken out.
type view struct {
	text    string
	changed bool
	first   []int // the line of the text, from 0, at which each line of the view begins; nil: the same
}

// lines returns the lines of the text, from 1, that lines of the view, from 0, came from.
func (v view) lines(first, last int) (from, to int) {
	if v.first == nil {
		return first + 1, last + 1
	}
	first, last = min(first, len(v.first)-1), min(last, len(v.first)-1)
	to = v.first[last] + 1
	if last+1 < len(v.first) {
		to = max(to, v.first[last+1])
	}
	return v.first[first] + 1, to
}

// views returns what is scanned of a text. Views that would be the same are left out.
func views(text string) []view {
	all := []view{{text: text}}
	if strings.Contains(text, "\x00") { // UTF-16 of ASCII
		text = strings.ReplaceAll(text, "\x00", "")
		all = append(all, view{text: text, changed: true})
	}
	if joined, ok := join(text); ok {
		all = append(all, joined)
	}
	return all
}

// seam is what stands between the parts of a literal in the common languages:
// "ab" + "cd", 'ab' . 'cd', "ab" "cd", and a line that ends with a backslash.
var seam = regexp.MustCompile("\"[\\s\\\\]*[+.&]?[\\s\\\\]*\"|'[\\s\\\\]*[+.&]?[\\s\\\\]*'|`\\s*\\+\\s*`|\\\\\r?\n\\s*")

// join takes the seams out of split literals; ok is false if there are none.
func join(text string) (v view, ok bool) {
	seams := seam.FindAllStringIndex(text, -1)
	if len(seams) == 0 {
		return view{}, false
	}
	var out strings.Builder
	first, line, at := []int{0}, 0, 0
	keep := func(part string) {
		out.WriteString(part)
		for range strings.Count(part, "\n") {
			line++
			first = append(first, line)
		}
	}
	for _, s := range seams {
		keep(text[at:s[0]])
		line += strings.Count(text[s[0]:s[1]], "\n")
		at = s[1]
	}
	keep(text[at:])
	return view{out.String(), true, first}, true
}
