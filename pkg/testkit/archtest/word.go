package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// vagueWords matches words that CONTRIBUTING.md rules out.
var vagueWords = regexp.MustCompile(`(?i)\b(?:somebody|anew)\b`)

// clauseSubject matches a text whose subject is a clause. A question is none.
var clauseSubject = regexp.MustCompile(`^(?i:what|who) (?:is|was|were|looks|works|runs|ran|pushed|killed|said|it says)\b.*[^?]$`)

// pattern matches a regular expression: people do not read it.
var pattern = regexp.MustCompile(`\(\?|\|`)

// words reports texts, comments and pages whose words CONTRIBUTING.md rules out.
func words(t *tree) []Violation {
	var all []Violation
	for _, f := range t.files {
		if f.test || strings.HasPrefix(f.dir, "pkg/testkit/archtest") {
			continue
		}
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if word := vagueWords.FindString(c.Text); word != "" {
					all = append(all, t.at(f, c, "words", word+" is vague: name the person or the role, or \"again\""))
				}
			}
		}
		ast.Inspect(f.ast, func(node ast.Node) bool {
			lit, ok := node.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			switch {
			case err != nil || pattern.MatchString(text):
			case vagueWords.MatchString(text):
				all = append(all, t.at(f, lit, "words", vagueWords.FindString(text)+" is vague: name the person or the role, or \"again\""))
			case clauseSubject.MatchString(text):
				all = append(all, t.at(f, lit, "words", "the subject is a clause: begin with a noun"))
			}
			return true
		})
	}
	return append(all, prose(t)...)
}
