package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Problem is something wrong with a plan, and where.
type Problem struct {
	File string
	Line int // from 1
	Text string
}

// Error is FILE:LINE: what is wrong.
func (p *Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

func (d *draft) problem(line int, format string, args ...any) {
	d.problems = append(d.problems, &Problem{d.name, max(line, 1), fmt.Sprintf(format, args...)})
}

func (d *draft) err() error {
	slices.SortStableFunc(d.problems, func(a, b *Problem) int { return cmp.Compare(a.Line, b.Line) })
	all := make([]error, len(d.problems))
	for i, p := range d.problems {
		all[i] = p
	}
	return errors.Join(all...)
}
