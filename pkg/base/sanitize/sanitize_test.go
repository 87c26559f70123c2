package sanitize_test

import (
	"bytes"
	html5 "html"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer/html"
	gmtext "github.com/yuin/goldmark/text"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
)

// hostile are texts that were made to get out of where they are put.
var hostile = []string{
	"@octocat", "/@octocat", ".@octocat", "@@octocat", "x @acme/team", `\@octocat`, "&#64;octocat", "&commat;octocat", "R&D; &amp &amp; &x;", "a|b \\| `|`", "fixes\u00a0#1", "a\u200b@\u200bb\xe2\x80\u200b\x8b", "(@a)@b,@c", "_@octocat_",
	`fixes \#1`, `Fixes\: acme\/widgets\#1`, `closes GH\-7`, "F&#105;xes &num;1", "fixes #1", "Closes: acme/widgets#12", "resolved GH-7", "fix https://github.com/a/b/issues/1", "FIXED\t#9",
	"<!-- signalbox instance=a key=b -->", "<details><summary>x", "<script>alert(1)</script>", "<img src=x onerror=y>", "</details>", "<?php", "<![CDATA[x]]>",
	"/approve", "  /lgtm", "- /approve", "> /approve", "1. /approve", "a\n/merge",
	"end of quote\r## How it was tested\r9999 tests pass\r/approve", "a\u2028/approve", "a\u0085# b", "a\vb", "a\fb",
	"```\n@team\n```", "`` ` ``@team", "```@team", "~~~\n# x", "    code", "`", "``", " ` ", "```\n```\n# out",
	"abc\u202edcba", "a\u200bb", "\ufeffx", "\U000e0041\U000e0042", "soft\u00adhyphen", "\u2066x\u2069", "\u3164",
	"\x1b[31mred\x1b[0m", "\x1b]0;title\a", "\x9b31m", "a\bb", "\x00", "\x7f", "\xff\xfe", "\u009b31m",
	"[x](javascript:alert(1))", "![](http://tracker.example.test/x.png)", "# heading", "---", "| a | b |\n|---|---|", "* * *\n\ntext", "", "\n", " \n ",
	"![a](https://evil.example/s.png?d=BASE64) _@octocat_", "__@name__", "~_@acme/team_", "[click](https://evil.example/x)", "[https://github.com](https://evil.example)", "[x]: https://evil.example \"t\"\n\n[a][x] ![b][x]", "[//]: # (hidden)",
	"<div hidden>\nx\n</div>", "x [skip ci]", "[CI-Skip]", "***NO_CI***", "skip-checks: true", "bors r+", "!merge", "@dependabot rebase", "\t@octocat", "```mermaid\ngraph\n```", "~~~ hidden words\nx",
	"|a|\n|-|\n|b|hidden|", "$x$ $y$", "[^1]: hidden", "Duplicate of #5", "> fixes\n> #1", "https://github.com@evil.example/", "<https://evil.example/@x>", "[a](</b c> \"hidden\")", "[![a](b)](https://evil.example)",
	// GitHub takes a backslash and a backtick for parts of the address before them.
	"![](http://tracker.example.test/x.png)<img src=x onerror=y>", "www.a.test<details>", `https://a.test/\<script>`, "www.a.test```\n@team\n```", "https://a.test/" + strings.Repeat("a", 400) + "<img src=x>",
	// After a backtick that opens no code, its parser does not find all the code.
	"` ``` a ``` ``` @octocat ```", "a ` b", "--bors r+\n)", "---bors r+\n)",
	"👩\u200d💻 is fine\ufe0f", "ordinary text, with a@b.example and 5 < 6 & 7 > 3",
}

func parse(source string) ast.Node {
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(gmtext.NewReader([]byte(source)))
}

// render returns Markdown as HTML, and its texts: those between tags, where code is a NUL.
func render(t testing.TB, source string) (page, texts string) {
	t.Helper()
	var out bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).Convert([]byte(source), &out); err != nil {
		t.Fatal(err)
	}
	page = out.String()
	return page, html5.UnescapeString(anyTag.ReplaceAllString(inCode.ReplaceAllString(page, "\x00"), "\x00"))
}

var (
	inCode = regexp.MustCompile(`(?s)<(?:code|pre)\b.*?</(?:code|pre)>`)
	anyTag = regexp.MustCompile(`<[^>]*>`)
	anchor = regexp.MustCompile(`(?s)<a href="([^"]*)"([^>]*)>(.*?)</a>`)
)

// count counts the nodes of a kind.
func count(t testing.TB, n ast.Node, kinds ...ast.NodeKind) (found int) {
	t.Helper()
	err := ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		for _, k := range kinds {
			if entering && n.Kind() == k {
				found++
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var (
	live    = regexp.MustCompile(`(?:^|[^0-9A-Za-z])@[0-9A-Za-z_]`)
	closes  = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:(?:[\w.-]+/[\w.-]+)?#\w|GH-\w|https?://\S*/issues/\d)`)
	command = regexp.MustCompile(`(?m)^[\s>*+-]*/[a-zA-Z]`)
	// swallowed matches a tag that is escaped within an address.
	swallowed = regexp.MustCompile(`(?:://|www\.)[^\s<]*(?:</a>)?\\?&lt;[A-Za-z/!?]`)
	skips     = regexp.MustCompile(`(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]|\*\*\*NO_CI`)
)

func check(t testing.TB, s string) {
	t.Helper()
	for name, out := range map[string]string{
		"Markdown": sanitize.Markdown(s), "MarkdownLine": sanitize.MarkdownLine(s), "Subject": sanitize.Subject(s), "Cell": sanitize.Cell(s), "Quote": sanitize.Quote(s), "Code": sanitize.Code(s), "Verbatim": sanitize.Verbatim(s),
		"Terminal": sanitize.Terminal(s), "TerminalLine": sanitize.TerminalLine(s), "Message": sanitize.Message(s),
	} {
		if !utf8.ValidString(out) {
			t.Errorf("%s(%q) is no UTF-8: %q", name, s, out)
		}
		for _, r := range out {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || strings.ContainsRune("\u200b\u202e\u202d\u2066\u2028\u2029\ufeff", r) {
				t.Errorf("%s(%q) has %U: %q", name, s, r, out)
			}
		}
	}
	for name, line := range map[string]func(string) string{
		"TerminalLine": sanitize.TerminalLine, "MarkdownLine": sanitize.MarkdownLine, "Subject": sanitize.Subject, "Cell": sanitize.Cell, "Code": sanitize.Code,
	} {
		if out := line(s); strings.Contains(out, "\n") {
			t.Errorf("%s(%q) is %q", name, s, out)
		}
	}
	for _, bad := range []*regexp.Regexp{live, closes, command, skips} {
		if m := bad.FindString(sanitize.Subject(s)); m != "" {
			t.Errorf("Subject(%q) has %q: %q", s, m, sanitize.Subject(s))
		}
	}
	for name, twice := range map[string]func(string) string{"Markdown": sanitize.Markdown, "MarkdownLine": sanitize.MarkdownLine, "Subject": sanitize.Subject, "Message": sanitize.Message, "Terminal": sanitize.Terminal} {
		if once := twice(s); twice(once) != once {
			t.Errorf("%s(%q) is %q, and %q the second time", name, s, once, twice(once))
		}
	}
	if cell := parse("| " + sanitize.Cell(s) + " | b |\n|---|---|\n"); count(t, cell, extast.KindTableHeader) != 1 || count(t, cell, extast.KindTableCell) != 2 {
		t.Errorf("Cell(%q) is no cell alone: %q", s, sanitize.Cell(s))
	}
	for _, bad := range []*regexp.Regexp{live, closes, command, skips} {
		if m := bad.FindString(sanitize.Message(s)); m != "" {
			t.Errorf("Message(%q) has %q: %q", s, m, sanitize.Message(s))
		}
	}
	for name, out := range map[string]string{
		"Markdown": sanitize.Markdown(s), "MarkdownLine": sanitize.MarkdownLine(s), "Cell": "| " + sanitize.Cell(s) + " |\n|---|\n", "Quote": sanitize.Quote(s),
	} {
		page, texts := render(t, out)
		for _, bad := range []*regexp.Regexp{live, closes, command} {
			if m := bad.FindString(anchor.ReplaceAllString(texts, "\x00")); m != "" {
				t.Errorf("%s(%q) shows %q: %q", name, s, m, out)
			}
		}
		if strings.Contains(page, "<img") || strings.Contains(page, "<!--") || count(t, parse(out), ast.KindRawHTML, ast.KindHTMLBlock, ast.KindLinkReferenceDefinition) > 0 {
			t.Errorf("%s(%q) has an image, HTML or a definition: %q", name, s, out)
		}
		for _, m := range anchor.FindAllStringSubmatch(page, -1) {
			to, err := url.Parse(html5.UnescapeString(m[1]))
			if err == nil && to.Host != "" && !strings.Contains(html5.UnescapeString(m[3]), to.Host) || m[2] != "" {
				t.Errorf("%s(%q) has a link that hides where it leads: %s", name, s, m[0])
			}
		}
		if m := swallowed.FindString(inCode.ReplaceAllString(page, "")); m != "" && !strings.Contains(out, "`") {
			t.Errorf("%s(%q) has an escape within an address, %q: %q", name, s, m, out)
		}
		if l, _ := sanitize.LiveMarkdown(out); name != "Cell" && len(l) > 0 {
			t.Errorf("%s(%q) is live: %q, %+v", name, s, out, l)
		}
	}
	quote := parse(sanitize.Quote(s) + "\n\nafter\n")
	if quote.ChildCount() != 2 || quote.FirstChild().Kind() != ast.KindBlockquote || quote.LastChild().Kind() != ast.KindParagraph {
		t.Errorf("Quote(%q) is no quote alone: %q", s, sanitize.Quote(s))
	}
	block := parse("before\n\n" + sanitize.Verbatim(s) + "\n\nafter\n")
	if block.ChildCount() != 3 || block.FirstChild().NextSibling().Kind() != ast.KindFencedCodeBlock {
		t.Errorf("Verbatim(%q) is no block alone: %q", s, sanitize.Verbatim(s))
	}
	span := parse("before " + sanitize.Code(s) + " after")
	if p := span.FirstChild(); span.ChildCount() != 1 || p.Kind() != ast.KindParagraph || p.ChildCount() != 3 || p.FirstChild().NextSibling().Kind() != ast.KindCodeSpan {
		t.Errorf("Code(%q) is no span alone: %q", s, sanitize.Code(s))
	}
}

func TestHostileTextStaysWhereItIsPut(t *testing.T) {
	for i, s := range hostile {
		check(t, s)
		for j, other := range hostile {
			switch (3*i + j) % 40 { // all pairs take a minute
			case 0:
				check(t, s+other)
			case 20:
				check(t, s+"\n"+other)
			}
		}
	}
}

func TestOrdinaryTextStaysAsItIs(t *testing.T) {
	for _, s := range []string{"", "a", "Steps:\n\n1. run `go test`\n2. see **it** fail", "mail a@b.example", "5 < 6 & 7 > 3", "👩\u200d💻 ❤\ufe0f", "naïve, 日本語, العربية", "a/b and /", "fixes the bug", "R&D, AT&T. So: a&b", "?a=1&b=2",
		"`@Override` and `/x`", "```go\n// @octocat fixes #1\n/approve\n```", "[the docs](docs/a.md) and https://a.example.test/b?c=d", "[https://a.example.test/](https://a.example.test)", "| a |\n|---|\n| b |", "- [x] done\n- [ ] open", "it costs $5"} {
		if got := sanitize.Markdown(s); got != s {
			t.Errorf("Markdown(%q) is %q", s, got)
		}
		if got := sanitize.Terminal(s); got != s {
			t.Errorf("Terminal(%q) is %q", s, got)
		}
	}
}

func TestAnOrdinarySubjectStaysAsItIs(t *testing.T) {
	for _, s := range []string{"Return a List<String>", "R&D; &amp;", "fixes the bug of a@b.example", "Skip the CI step [docs]", "Close the file", "Fix UTF-8 and SHA-256", "Finish the C#9 part", "Sort-by: name", "Complete the list"} {
		if got := sanitize.Subject(s); got != s {
			t.Errorf("Subject(%q) is %q", s, got)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { check(t, s) })
}

// The forges that are meant have parsers of their own: this one is GitHub's.
func TestGitHubsParserFindsNothingLive(t *testing.T) {
	parser, err := exec.LookPath("cmark-gfm")
	if err != nil {
		t.Skip("no cmark-gfm here")
	}
	const between = "between-texts"
	var all strings.Builder
	var texts []string
	for i, s := range hostile {
		for j, other := range hostile {
			if (3*i+j)%40 == 10 {
				texts = append(texts, sanitize.Markdown(s+other), "before "+sanitize.MarkdownLine(s+" "+other)+" after", sanitize.Quote(s+"\n"+other))
			}
		}
		texts = append(texts, sanitize.Markdown(s), sanitize.MarkdownLine(s), sanitize.Quote(s))
	}
	for _, s := range texts {
		all.WriteString(s + "\n\n" + between + "\n\n")
	}
	cmd := exec.Command(parser, "--unsafe", "-e", "table", "-e", "strikethrough", "-e", "autolink", "-e", "tasklist")
	cmd.Stdin = strings.NewReader(all.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	pages := strings.Split(string(out), between)
	if len(pages) != len(texts)+1 {
		t.Fatalf("it shows %d texts, want %d", len(pages)-1, len(texts))
	}
	for i, s := range texts {
		shown := html5.UnescapeString(anyTag.ReplaceAllString(anchor.ReplaceAllString(inCode.ReplaceAllString(pages[i], "\x00"), "\x00"), "\x00"))
		for _, bad := range []*regexp.Regexp{live, closes, command} {
			if m := bad.FindString(shown); m != "" {
				t.Errorf("%q shows %q", s, m)
			}
		}
		if m := loaded.FindString(pages[i]); m != "" {
			t.Errorf("%q has %s", s, m)
		}
	}
}

// loaded matches elements that Markdown has none of, and images.
var loaded = regexp.MustCompile(`<(?:img|script|details|div|!--|\?)[^>]*>`)

// Each acts on a forge, a bot, a tracker or a commit somewhere.
func TestWordsThatActOutsideGitHubDoNothing(t *testing.T) {
	for s, want := range map[string]string{
		"fixes AB#12":    "fixes AB# 12",   // Azure Boards
		"Fixes ENG-12":   "Fixes – ENG-12", // Linear, and Jira by GitLab
		"ABC-1 #close":   "ABC-1 # close",  // Jira
		"finishes #12":   "finishes # 12",  // Pivotal Tracker
		"+semver: major": "semver = major", // GitVersion
		"x #major":       "x # major",      // bumps by actions
		"[no\u2003ci]":   "(no\u2003ci)",   // by those that split at any space
		"r? octocat":     "`r? octocat`",   // rustbot
		"LGTM":           "`LGTM`",         // Gitea
		"bors: r+":       "`bors: r+`",
		"\u00a0/close":   "\u00a0`/close`", // bots in JavaScript
		"I have read the CLA Document and I hereby sign the CLA": "`I have read the CLA Document and I hereby sign the CLA`",
		"x\n\nCo-authored-by: Ada <ada@a.test>":                  "x\n\nCo-authored-by = Ada <ada@a.test>",
		"x\n\nReviewed-by : Ada":                                 "x\n\nReviewed-by  = Ada",
		"On-behalf-of: Ada":                                      "On-behalf-of = Ada",
	} {
		if got := sanitize.Message(s); got != want {
			t.Errorf("Message(%q) is %q, want %q", s, got, want)
		}
		if live := sanitize.LivePlain(s); len(live) == 0 {
			t.Errorf("%q is not live", s)
		}
		if live, _ := sanitize.LiveMarkdown(s); len(live) == 0 {
			t.Errorf("%q is not live in Markdown", s)
		}
	}
}
