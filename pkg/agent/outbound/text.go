package outbound

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
)

// Text is a text for a forge.
type Text struct {
	What   string // for people: "comment", "title of the pull request", "label"
	Body   string
	Line   bool // it is one line, such as a title or a label
	Plain  bool // it is no Markdown, such as the message of a merge
	Max    int  // characters; 0: MaxBody
	Closes int  // the issue that it may close; 0: none
}

// The limits of GitHub, in characters.
const (
	MaxBody  = 65536
	MaxTitle = 256
	MaxLabel = 50
)

// ownMarker is a marker as package rules writes it.
var ownMarker = lazyregexp.New(`^<!-- signalbox instance=[^\s<>]* key=[^\s<>]* -->$`)

// ownHTML is the HTML of the product's own texts: a break within a cell of a table, and the
// parts that are folded, of the comment on how an issue stands and of pull requests.
var ownHTML = []string{"<br>", "<details><summary>Last moves</summary>", "</details>",
	"<details><summary>The report</summary>", "<details><summary>More criteria</summary>", "<details><summary>Output before and after</summary>", "<details><summary>Summary</summary>",
	"<details><summary>Commits</summary>", "<details><summary>Files</summary>", "<details><summary>All of it</summary>",
	"<details><summary>Compared with the base</summary>", "<details><summary>Output of the failures on the base</summary>",
	"<details><summary>All of them</summary>", "<details><summary>All assumptions</summary>"}

// Text checks a text. The error is a *Refusal if it may not leave.
func (c *Checker) Text(t Text) error {
	s := c.findings()
	add := func(rule string, line int, format string, args ...any) {
		s.add(Finding{Rule: rule, Path: t.What, Line: line, Detail: fmt.Sprintf(format, args...)})
	}
	limit := t.Max
	if limit == 0 {
		limit = MaxBody
	}
	if len(t.Body) > utf8.UTFMax*limit || utf8.RuneCountInString(t.Body) > limit { // the rest takes time
		add("size", 0, "%d characters, more than the %d that a forge takes", utf8.RuneCountInString(t.Body), limit)
		return s.err()
	}
	for _, f := range c.secrets.ScanText(t.Body) {
		add("secret", f.Line, "%s", f.What())
	}
	if at := sanitize.FirstHidden(t.Body); at >= 0 {
		add("hidden", lineAt(t.Body, at), "a character that does not show")
	}
	if t.Line || t.Plain {
		if t.Line && strings.ContainsAny(t.Body, "\r\n") {
			add("hidden", 0, "it has more than one line")
		}
		for _, l := range sanitize.LivePlain(t.Body) {
			add(l.Rule, lineAt(t.Body, l.At), "%s", l.Says())
		}
		return s.err()
	}
	body := withoutMarkers(t.Body)
	for _, own := range ownHTML {
		body = strings.ReplaceAll(body, own, strings.Repeat(" ", len(own)))
	}
	all, shown := sanitize.LiveMarkdown(body)
	for _, f := range c.secrets.ScanText(shown) {
		if len(s.order) == 0 { // else it is most likely the same
			add("secret", 0, "%s, as it is shown", f.What())
		}
	}
	for _, l := range all {
		if l.Rule != "closes" || !closesOwn(body, l.At, t.Closes) {
			add(l.Rule, lineAt(body, l.At), "%s", l.Says())
		}
	}
	return s.err()
}

// closesOwn reports whether the # at an offset is of the words by which the product closes
// the issue of its own work.
func closesOwn(body string, at, issue int) bool {
	const words = "Closes "
	if at < len(words) || issue == 0 {
		return false
	}
	m := closesOne.FindStringSubmatch(body[at-len(words):])
	return m != nil && m[1] == strconv.Itoa(issue)
}

// closesOne matches those words.
var closesOne = lazyregexp.New(`^Closes #(\d+)\b`)

func lineAt(s string, at int) int { return strings.Count(s[:at], "\n") + 1 }

// withoutMarkers returns the text without the product's own markers, which are the
// last of its lines.
func withoutMarkers(body string) string {
	lines := strings.Split(body, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.TrimSpace(lines[i]) == "" {
			continue
		}
		if !ownMarker.MatchString(lines[i]) {
			break
		}
		lines[i] = ""
	}
	return strings.Join(lines, "\n")
}
