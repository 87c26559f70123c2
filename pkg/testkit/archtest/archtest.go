// Package archtest checks the design of the repository: which package may import
// which, where goroutines start, where a clock is read. It parses the source
// without building it and reports each place that breaks a rule.
package archtest

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
)

// Violation is one place in the source that breaks a rule.
type Violation struct {
	File string
	Line int
	Rule string // the rule's name, one word
	Text string // what is wrong and what would be right
}

func (v Violation) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", v.File, v.Line, v.Rule, v.Text)
}

// rules are all rules by the name that a Violation has. Each has a planted
// violation in testdata.
var rules = map[string]func(*tree) []Violation{
	"budget":      budgets,
	"documents":   documents,
	"expressions": expressions,
	"forge":       forge,
	"globals":     globals,
	"goroutines":  goroutines,
	"identity":    identity,
	"init":        inits,
	"layers":      layers,
	"linked":      linked,
	"methods":     methods,
	"names":       vagueNames,
	"pure":        pure,
	"servers":     servers,
	"services":    services,
	"size":        sizes,
	"texts":       texts,
	"unsafe":      unsafe,
	"walls":       group,
	"words":       words,
}

// Check returns every violation in the module at the root of fsys, sorted by file
// and line. It returns an error if a file cannot be read or parsed.
func Check(fsys fs.FS, module string) ([]Violation, error) {
	t, err := load(fsys, module)
	if err != nil {
		return nil, err
	}
	var all []Violation
	for _, rule := range rules {
		all = append(all, rule(t)...)
	}
	slices.SortFunc(all, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Text, b.Text))
	})
	return all, nil
}
