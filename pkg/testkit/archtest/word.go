package archtest

import (
	"regexp"
	"strings"
)

// vagueWords matches words that CONTRIBUTING.md rules out.
var vagueWords = regexp.MustCompile(`(?i)\b(?:somebody|anew)\b`)

// words reports comments and pages whose words CONTRIBUTING.md rules out.
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
	}
	return append(all, prose(t)...)
}
