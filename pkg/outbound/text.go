package outbound

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/signalbox/signalbox/pkg/sanitize"
)

// Text is a text for a forge.
type Text struct {
	What   string // for people: "comment", "title of the pull request", "label"
	Body   string
	Line   bool // it is one line, such as a title or a label
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
var ownMarker = regexp.MustCompile(`^<!-- signalbox instance=[^\s<>]* key=[^\s<>]* -->$`)

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
	if n := utf8.RuneCountInString(t.Body); n > limit {
		add("size", 0, "%d characters, more than the %d that a forge takes", n, limit)
	}
	for _, f := range c.secrets.Scan(t.Body) {
		add("secret", f.Line, "%s", f.What())
	}
	if at := sanitize.FirstHidden(t.Body); at >= 0 {
		add("hidden", lineAt(t.Body, at), "a character that does not show")
	}
	if t.Line && strings.ContainsAny(t.Body, "\r\n") {
		add("hidden", 0, "it has more than one line")
	}
	body := t.Body
	if !t.Line {
		body = withoutMarkers(prose(body))
	}
	live(body, t.Closes, add)
	if !t.Line {
		notifying(rendered(body), t.Closes, add)
	}
	return s.err()
}

// rendered returns Markdown with its character references and escapes replaced: a
// forge looks for names and issues in what was rendered.
func rendered(body string) string {
	return string(util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences([]byte(body)))))
}

// live finds what a forge, or a bot, would act on.
func live(body string, closes int, add func(rule string, line int, format string, args ...any)) {
	notifying(body, closes, add)
	for _, at := range sanitize.Commands(body) {
		add("command", lineAt(body, at), "a line that is a command to a bot")
	}
	if at := strings.Index(body, "<!--"); at >= 0 {
		add("marker", lineAt(body, at), "a comment that people do not see")
	}
}

// notifying finds what notifies people and closes issues.
func notifying(body string, closes int, add func(rule string, line int, format string, args ...any)) {
	for _, at := range sanitize.Mentions(body) {
		add("mention", lineAt(body, at), "it notifies somebody")
	}
	for _, at := range sanitize.Closings(body) {
		if m := closesOne.FindStringSubmatch(body[at:]); m != nil && closes > 0 && m[1] == strconv.Itoa(closes) {
			continue
		}
		add("closes", lineAt(body, at), "it closes another issue than its own")
	}
}

// closesOne is how the product closes the issue of its own work.
var closesOne = regexp.MustCompile(`^Closes #(\d+)\b`)

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

// prose returns Markdown with its code blanked out, in the same lines: a forge acts
// on nothing there.
func prose(source string) string {
	out := []byte(source)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader([]byte(source)))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker has no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n.Kind() {
		case ast.KindFencedCodeBlock, ast.KindCodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				blank(line.Start, line.Stop)
			}
		case ast.KindCodeSpan:
			for child := n.FirstChild(); child != nil; child = child.NextSibling() {
				if piece, ok := child.(*ast.Text); ok {
					blank(piece.Segment.Start, piece.Segment.Stop)
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return string(out)
}
