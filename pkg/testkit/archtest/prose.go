package archtest

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"unicode"
)

// phraseFile has the number of uses of each phrase in comments. The numbers only fall.
const phraseFile = "pkg/testkit/archtest/phrases.txt"

// A phrase is a way to write that CONTRIBUTING.md rules out.
type phrase struct {
	name    string
	pattern *regexp.Regexp
	remedy  string
}

// phrases are ruled out in the pages, and counted in comments.
var phrases = []phrase{
	{"clause", regexp.MustCompile(`(?:^|\n\n|[.:;!?]\s|\|\s)(?:What|Who|Whatever|Whoever)\s[^?.:;|]*(?:[.:;|]|$)`), "the subject is a clause: begin with a noun"},
	{"told", regexp.MustCompile(`(?i)\b(?:told|hears|learns|learnt)\b`), "name the act: gets, is given, reports, asks"},
	{"of-which", regexp.MustCompile(`(?i)\bof\s+which\b`), "make it two sentences, or use whose"},
	{"beside", regexp.MustCompile(`(?i)\bbesides?\b`), "write in addition to, other than, or next to"},
	{"a-word", regexp.MustCompile(`(?i)\ba\s+word\b`), "name the text"},
	{"vague", vagueWords, "name the person or the role, or write again"},
}

// pages are the documents whose text has none of the phrases.
var pages = []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md"}

var (
	// apart matches the parts of a page that are no prose: fences, what is generated, code of
	// several lines, and headings.
	apart = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```$|^<!-- [a-z]+.*?^<!-- end -->$|^    \\$ .*?\n\n|(?-s:^#.*$)")
	// quoted matches code, output in italics and the targets of links, in a line or in two.
	quoted = regexp.MustCompile("`[^`]{0,300}`|\"[^\"]{0,200}\"|\\B\\*\\S[^*]{0,200}\\S\\*\\B|\\]\\([^)]*\\)")
	// item matches the beginning of a paragraph, an item or a row.
	item = regexp.MustCompile(`\n\s*(?:[*-] |\d+\. |\| )`)
)

// readPages returns the prose of the pages by path, with the lines that they have there.
func readPages(fsys fs.FS) (map[string]string, error) {
	prose := map[string]string{}
	for _, pattern := range pages {
		names, err := fs.Glob(fsys, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return nil, err
			}
			plain := apart.ReplaceAllStringFunc(string(text), blank)
			plain = item.ReplaceAllStringFunc(strings.ReplaceAll(plain, "**", ""), func(s string) string { return blank(s) + "| " })
			prose[name] = quoted.ReplaceAllStringFunc(plain, func(s string) string { return "x" + blank(s) })
		}
	}
	return prose, nil
}

// blank returns the line ends of a text.
func blank(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }

// prose reports phrases in pages, and a number of them in comments that is not the file's.
func prose(t *tree) []Violation {
	var all []Violation
	limits := map[string]budget{}
	for _, b := range t.phrases {
		limits[b.name] = b
	}
	for _, p := range phrases {
		for name, text := range t.pages {
			for _, at := range p.pattern.FindAllStringIndex(text, -1) {
				first := at[0] + strings.IndexFunc(text[at[0]:], unicode.IsLetter)
				all = append(all, Violation{name, 1 + strings.Count(text[:first], "\n"), "words", p.remedy})
			}
		}
		n := 0
		for _, f := range t.files {
			for _, c := range f.ast.Comments {
				if !f.test && !strings.HasPrefix(f.dir, "pkg/testkit/archtest") {
					n += len(p.pattern.FindAllString(quoted.ReplaceAllString(c.Text(), "x"), -1))
				}
			}
		}
		limit := limits[p.name]
		off := n > limit.lines || limit.lines > 0 && 10*n <= 9*limit.lines
		if off && t.phrases != nil && p.pattern != vagueWords { // words reports each of those
			text := fmt.Sprintf("comments have %s %d times, not %d: reword the new ones, or lower the number", p.name, n, limit.lines)
			all = append(all, Violation{phraseFile, max(limit.line, 1), "words", text})
		}
	}
	return all
}
