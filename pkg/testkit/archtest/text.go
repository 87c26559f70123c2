package archtest

import (
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A text is a piece of what the program prints or shows: a string of its code, or a line of a
// lifecycle, a template or a page.
type text struct {
	file string
	line int
	text string
}

// textPhrases are ruled out in texts, in addition to phrases.
var textPhrases = []phrase{
	{"clause", regexp.MustCompile(`(?:^|\n\n|[.:;!?]\s+|\|\s)(?i:what|who|whatever|whoever)\s[^?.:;|]*(?:[.:;|]|$)`), "the subject is a clause: begin with a noun"},
	{"headless", regexp.MustCompile(`(?i)\b(?:by|of|for|to|from|than|what)\s+who(?:ever)?\b`), "name the person or the role"},
	{"says", regexp.MustCompile(`(?i)\b(?:says|tells|told|hears|heard|learns|learnt)\b|\b(?:is|are|was|were|be|been)\s+said\b`), "only people say and hear: name the act, such as prints, names, reports, gets"},
	{"there-is", regexp.MustCompile(`(?i)\b(?:what|that|which|as|than)\s+there\s+(?:is|are|was|were)\b`), "leave \"there is\" out"},
}

// speaker matches a text that ends with a person or a role: they say and hear.
var speaker = regexp.MustCompile(`(?i)\b(?:people|person|persons|reviewers?|reporters?|maintainers?|operators?|authors?|humans?|who|they|nobody|anyone|you|he|she|%s)\s+(?:\w+ly\s+)?$`)

// pattern matches a regular expression: people do not read it.
var pattern = regexp.MustCompile(`\(\?|\|`)

// textTypes are the extensions of files that are embedded and read by people.
var textTypes = []string{".md", ".tmpl", ".html", ".yaml", ".txt"}

var (
	// spoken matches the attributes of HTML that people read or hear.
	spoken = regexp.MustCompile(`\s(?:aria-label|title|alt|placeholder)="([^"]*)"`)
	// markup matches what a template or a page has in addition to its text.
	markup = regexp.MustCompile(`(?s)<(?:script|style)\b.*?</(?:script|style)>|</?[a-z!][^>]*>`)
	action = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	// code matches what a text quotes: code, and what was said by others.
	code = regexp.MustCompile("`[^`\n]{0,300}`|\"[^\"\n]{0,200}\"|“[^”]*”|'[a-z]+'")
	// yamlItem matches the beginning of a value or a comment.
	yamlItem = regexp.MustCompile(`(?m)(?:^\s*(?:- )?|[{,]\s*)\w+: "?|(?:^|\s)# `)
)

// readTexts returns the texts of the files that are embedded.
func readTexts(fsys fs.FS) ([]text, error) {
	var texts []text
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch top, _, _ := strings.Cut(name, "/"); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name() == "testdata" || !slices.Contains([]string{"pkg", "services"}, top)):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(textTypes, path.Ext(name)) || within(name, "pkg/testkit") || !strings.Contains(name, "/"):
			return nil
		}
		source, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		plain := action.ReplaceAllStringFunc(string(source), func(s string) string { return "x" + blank(s) })
		switch path.Ext(name) {
		case ".html", ".tmpl":
			plain = spoken.ReplaceAllString(plain, ">. $1. <i ")
			plain = markup.ReplaceAllStringFunc(plain, func(s string) string { return ". " + blank(s) })
		case ".yaml":
			plain = yamlItem.ReplaceAllString(plain, ". ")
		}
		texts = append(texts, text{name, 1, plain})
		return nil
	})
	return texts, err
}

// literals returns the strings of the product's code, sums of them as one.
func literals(t *tree) []text {
	var all []text
	for _, f := range t.files {
		if f.test || within(f.dir, "pkg/testkit") {
			continue
		}
		tags, sums := map[*ast.BasicLit]bool{}, map[ast.Node]bool{}
		ast.Inspect(f.ast, func(node ast.Node) bool {
			add := func(s string) { all = append(all, text{f.path, t.fset.Position(node.Pos()).Line, s}) }
			switch n := node.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				if n.Tag != nil {
					tags[n.Tag] = true
				}
			case *ast.BinaryExpr:
				if n.Op == token.ADD && !sums[n] {
					add(sum(n, sums))
				}
			case *ast.BasicLit:
				s, _ := strconv.Unquote(n.Value)
				switch {
				case n.Kind != token.STRING || sums[n]:
				case tags[n]:
					add(reflect.StructTag(s).Get("help"))
				default:
					add(s)
				}
			}
			return true
		})
	}
	return all
}

// sum returns a sum of strings, with an x for each part that is no literal, and notes its parts.
func sum(e ast.Expr, parts map[ast.Node]bool) string {
	parts[e] = true
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return sum(e.X, parts) + sum(e.Y, parts)
		}
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return s
		}
	}
	return "x"
}

// texts reports phrases in the texts of the program.
func texts(t *tree) []Violation {
	var all []Violation
	for _, x := range append(literals(t), t.texts...) {
		if pattern.MatchString(x.text) && !strings.Contains(x.text, "\n") || !strings.Contains(x.text, " ") {
			continue
		}
		plain := code.ReplaceAllStringFunc(x.text, func(s string) string { return "x" + blank(s) })
		for _, p := range slices.Concat(phrases[2:], textPhrases) {
			for _, at := range p.pattern.FindAllStringIndex(plain, -1) {
				if p.name == "says" && speaker.MatchString(plain[:at[0]]) || excused(x.file, plain[at[0]:at[1]]) {
					continue
				}
				first := at[0] + max(0, strings.IndexFunc(plain[at[0]:], unicode.IsLetter))
				all = append(all, Violation{x.file, x.line + strings.Count(plain[:first], "\n"), "texts", strconv.Quote(strings.TrimSpace(plain[first:at[1]])) + ": " + p.remedy})
			}
		}
	}
	return all
}

// exempt are names and keys that a text has to quote, by file. Each is one of the phrases.
var exempt = map[string][]string{
	"pkg/agent/brain/prompt/example.go":           {"says"},                                 // an example of a report
	"pkg/agent/brain/prompt/shipped/parts.tmpl":   {"heard"},                                // a key of a result's data
	"pkg/agent/brain/rules/language_table.go":     {"What happens", "What should happen"},   // headings of reports
	"pkg/engine/eventstore/jetstream/delivery.go": {"What the forge's webhooks delivered."}, // in the configuration of stored streams
	"pkg/engine/eventstore/jetstream/snapshot.go": {"What snapshots are made of."},
}

func excused(file, part string) bool {
	return slices.Contains(exempt[file], strings.TrimSpace(part))
}
