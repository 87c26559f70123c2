package outbound_test

import (
	"bytes"
	html5 "html"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
)

// FuzzText holds that what was sanitized may leave, as far as its form goes, and that a
// text that passes renders without a comment or a mention of its own, by a renderer of
// CommonMark.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		"@octocat", "/@acme/team", "Fixes #1", "a\r/approve", "```@team", "`` ` ``@x", "<!-- x", "&#64;octocat", "&commat;octocat", "\\@octocat", "a\u202eb",
		"[x](y)@z", "> q\n@x", "<b>@</b>x", "| a |\n|-|\n| @x |", "    @code", "~~~\n@x",
	} {
		f.Add(s)
	}
	c := newChecker(f)
	f.Fuzz(func(t *testing.T, s string) {
		clean := sanitize.Markdown(s)
		if err := c.Text(outbound.Text{What: "comment", Body: clean}); err != nil && !strings.Contains(err.Error(), "(secret)") &&
			!strings.Contains(err.Error(), "(size)") {
			t.Errorf("%q becomes %q, which may not leave: %v", s, clean, err)
		}
		if c.Text(outbound.Text{What: "comment", Body: s}) != nil {
			return
		}
		var out bytes.Buffer
		if err := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).Convert([]byte(s), &out); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "<!--") {
			t.Errorf("%q may leave, and renders as %q", s, out.String())
		}
		// What GitHub looks at: texts between tags, without code.
		plain := html5.UnescapeString(anyTag.ReplaceAllString(code.ReplaceAllString(out.String(), " \x00 "), " \x00 "))
		if strings.Contains(s, "<") { // raw HTML is text of its own
			return
		}
		if m := mention.FindString(plain); m != "" {
			t.Errorf("%q may leave, and notifies %q: %q", s, m, out.String())
		}
	})
}

var (
	code    = regexp.MustCompile(`(?s)<(code|pre)\b.*?</(code|pre)>`)
	anyTag  = regexp.MustCompile(`<[^>]*>`)
	mention = regexp.MustCompile(`(?:^|[^0-9A-Za-z_])@[0-9A-Za-z_]+`)
)
