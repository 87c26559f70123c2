package app

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/markdown"
)

// The parts of a text that name issues which another one waits for.
const (
	// issueName is #12, OWNER/NAME#12, or the address of an issue or a pull request.
	issueName = `(?:https?://[^\s/]+/)?(?:[\w.-]+/[\w.-]+)?(?:#|/(?:issues|pull)/)\d{1,9}\b`
	joint     = `(?:[\s,;&+•*-]|\band\b|\bissues?\b|\bpull requests?\b|\bPRs?\b)*`
)

// waitPhrase matches "blocked by #12, #13 and #14" and its kin.
var waitPhrase = lazyregexp.New(`(?i)\b(?:blocked[ -](?:by|on)|depend(?:s|ent|ing)?[ -](?:up)?on)[\s:*_]*` + joint + `(` +
	issueName + `(?:` + joint + issueName + `)*)`)

// issueNamed matches one name of an issue.
var issueNamed = lazyregexp.New(`(?i)(?:https?://[^\s/]+/)?([\w.-]+/[\w.-]+)?(?:#|/(?:issues|pull)/)(\d{1,9})\b`)

// elsewhere matches words before a phrase that make it no dependency of this issue: a
// denial, the past, or another issue as the subject.
var elsewhere = lazyregexp.New(`(?i)(?:\b(?:not|no longer|never|was|were|previously|formerly)|n[\x{2019}']t|#\d+|/\d+)(?:\s+(?:is|are|be|been|also|yet|really|longer))*\s*$`)

// maxNamed is how many issues a text can wait for.
const maxNamed = 30

// reference is an issue that a text names. Repo is empty for one of the same repository.
type reference struct {
	repo   string
	number int
}

// waitsOn returns the issues that an issue of the repository waits for by its text, each
// once. Code, quotes and HTML name none, nor does a text that is too complex to be parsed.
func waitsOn(repo, text string) []reference {
	if !strings.Contains(text, "#") && !strings.Contains(text, "://") {
		return nil
	}
	var all []reference
	seen := map[reference]bool{}
	plain := proseOf(text)
	for _, at := range waitPhrase.FindAllStringSubmatchIndex(plain, -1) {
		line := plain[strings.LastIndexByte(plain[:at[0]], '\n')+1 : at[0]]
		if elsewhere.MatchString(line) {
			continue
		}
		for _, m := range issueNamed.FindAllStringSubmatch(plain[at[2]:at[3]], -1) {
			number, err := strconv.Atoi(m[2])
			of := reference{m[1], number}
			if strings.EqualFold(of.repo, repo) {
				of.repo = ""
			}
			if err == nil && number > 0 && !seen[of] && len(all) < maxNamed {
				seen[of] = true
				all = append(all, of)
			}
		}
	}
	return all
}

// proseOf returns the ordinary text of a Markdown text, a line for each of its lines.
func proseOf(text string) string {
	source := []byte(strings.ReplaceAll(text, "\r\n", "\n"))
	doc, err := markdown.Parse(source)
	if err != nil {
		return ""
	}
	var b strings.Builder
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker has no error
		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteByte('\n')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Blockquote, *ast.CodeSpan, *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock, *ast.RawHTML, *ast.Image:
			b.WriteString(" . ") // what stands around it does not meet
			return ast.WalkSkipChildren, nil
		case *ast.AutoLink:
			b.Write(n.URL(source))
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte('\n')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
