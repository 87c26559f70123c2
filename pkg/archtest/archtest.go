// Package archtest holds the repository to its design: who may import what,
// where goroutines start, where a clock is read. It reads the source as text,
// builds nothing, and names each place that breaks a rule, and the rule.
package archtest

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
)

// Violation is one place that breaks a rule.
type Violation struct {
	File string
	Line int
	Rule string // its name, one word
	Text string // what is wrong there and what would be right
}

func (v Violation) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", v.File, v.Line, v.Rule, v.Text)
}

// Check returns every violation in the module at the root of fsys, by file and
// line. An error is a file that cannot be read or parsed.
func Check(fsys fs.FS, module string) ([]Violation, error) {
	t, err := load(fsys, module)
	if err != nil {
		return nil, err
	}
	var all []Violation
	for _, rule := range []func(*tree) []Violation{
		pure, forge, services, unsafe, goroutines, inits, globals, sizes, names,
	} {
		all = append(all, rule(t)...)
	}
	slices.SortFunc(all, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
	return all, nil
}
