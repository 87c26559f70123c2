package markdown

import (
	"errors"
	"strings"
	"testing"
)

func TestMarkdownIsRendered(t *testing.T) {
	for source, want := range map[string]string{
		"**Q1.** a `b`":                "<p><strong>Q1.</strong> a <code>b</code></p>",
		"## What":                      "<h2>What</h2>",
		"- [x] done":                   `<li><input checked="" disabled="" type="checkbox"> done</li>`,
		"```go\na < b\n```":            `<pre><code class="language-go">a &lt; b`,
		"[site](https://example.com/)": `<a href="https://example.com/">site</a>`,
		"|a|\n|-|\n|b|":                "<td>b</td>",
		"<details><summary>More</summary>\n\ntext\n\n</details>": "<details><summary>More</summary>",
	} {
		if got, err := HTML([]byte(source)); err != nil || !strings.Contains(got, want) {
			t.Errorf("of %q comes %q, %v; want %q in it", source, got, err, want)
		}
	}
}

func TestRenderedMarkdownLoadsAndRunsNothing(t *testing.T) {
	for _, source := range []string{
		"<script>alert(1)</script>", "a <img src=x onerror=alert(1)> b", "<details open ontoggle=alert(1)>x</details>",
		"![x](https://example.com/a.png)", "![x](javascript:alert(1))", "[x](javascript:alert(1))", "[x](data:text/html,<script>)",
		"<style>*{display:none}</style>", "<iframe src=https://example.com></iframe>", "<form action=/x><input></form>", "</div></article>",
		"<!-- hidden -->", "<svg/onload=alert(1)>", "<a href='javascript:alert(1)'>x</a>", "<br onclick=alert(1)>", "&lt;script&gt;",
	} {
		got, err := HTML([]byte(source))
		if err != nil {
			t.Errorf("%q: %v", source, err)
		}
		for _, live := range []string{"<script", "<img", "<style", "<iframe", "<form", "<svg", "<details open", "</div", "<!--", "<br onclick", `href="javascript`, "href='", `href="data`} {
			if strings.Contains(got, live) {
				t.Errorf("of %q comes %q, which has %q", source, got, live)
			}
		}
	}
	if _, err := HTML([]byte(strings.Repeat(">", 65_000) + "a")); !errors.Is(err, ErrComplex) {
		t.Errorf("of a text that takes seconds it says %v", err)
	}
}
