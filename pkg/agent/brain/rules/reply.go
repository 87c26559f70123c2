package rules

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// line is a line of a reply: of code, quoted from another person, or neither.
type line struct {
	text   string
	code   bool
	quoted bool
}

func (l line) blank() bool { return !l.code && strings.TrimSpace(l.text) == "" }

var (
	quoting = lazyregexp.New(`^ {0,3}>\s?(.*)$`)
	slash   = lazyregexp.New(`^\s*/[a-z][\w-]*(\s|$)`)
	mailed  = lazyregexp.New(`^On .+ wrote:\s*$`)
)

// reply cuts a comment into lines. HTML comments and commands other than
// /answer are left out; code is not looked into.
func reply(body string) (all []line) {
	fenced, hiding := "", false
	for text := range strings.Lines(strings.ReplaceAll(body, "\r\n", "\n")) {
		text = strings.TrimRight(text, "\n")
		m := fence.FindStringSubmatch(text)
		switch {
		case fenced != "":
			if m != nil && strings.HasPrefix(m[1], fenced) {
				fenced = ""
			}
			all = append(all, line{text: text, code: true})
			continue
		case m != nil && !hiding:
			fenced = m[1]
			all = append(all, line{text: text, code: true})
			continue
		}
		shown, still := unhide(text, hiding)
		emptied := shown != text && strings.TrimSpace(shown) == ""
		if text, hiding = shown, still; emptied || mailed.MatchString(text) || slash.MatchString(text) && !byCommand.MatchString(text) {
			continue
		}
		if m := quoting.FindStringSubmatch(text); m != nil {
			all = append(all, line{text: m[1], quoted: true})
		} else {
			all = append(all, line{text: text})
		}
	}
	return all
}

// unhide takes HTML comments out of a line; one may begin or end elsewhere.
func unhide(text string, hiding bool) (string, bool) {
	var kept strings.Builder
	for {
		mark := "<!--"
		if hiding {
			mark = "-->"
		}
		before, after, found := strings.Cut(text, mark)
		if !hiding {
			kept.WriteString(before)
		}
		if !found {
			return kept.String(), hiding
		}
		text, hiding = after, !hiding
	}
}

func join(all []line) string {
	var s strings.Builder
	for _, l := range all {
		s.WriteString(l.text + "\n")
	}
	return strings.Trim(s.String(), "\n")
}
