package workflow

import (
	"errors"
	"fmt"
	"strings"
)

// Position is a place in a definition's file. Lines and columns count from 1;
// 0 is unknown.
type Position struct {
	File   string
	Line   int
	Column int
}

// String is FILE:LINE:COLUMN, as far as known.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Problem is something wrong with a definition, and where. Load joins every
// Problem it finds into one error; take them apart with Problems.
type Problem struct {
	At    Position
	Text  string
	Meant string // the known name nearest to the wrong one, if any is near
}

// Error is FILE:LINE:COLUMN: what is wrong; did you mean "…"?
func (p Problem) Error() string {
	text := p.At.String() + ": " + p.Text
	if p.Meant != "" {
		text += fmt.Sprintf("; did you mean %q?", p.Meant)
	}
	return text
}

// Problems lists what an error of Load, WithPolicy or LoadDir holds, in order;
// nil if there is no Problem in it.
func Problems(err error) []Problem {
	if p, ok := err.(Problem); ok {
		return []Problem{p}
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []Problem
		for _, one := range many.Unwrap() {
			all = append(all, Problems(one)...)
		}
		return all
	}
	if inner := errors.Unwrap(err); inner != nil {
		return Problems(inner)
	}
	return nil
}

// problems collects; a nil error means there were none.
type problems []Problem

func (ps *problems) add(at Position, format string, args ...any) {
	*ps = append(*ps, Problem{At: at, Text: fmt.Sprintf(format, args...)})
}

// unknown reports a name that is none of the known ones.
func (ps *problems) unknown(at Position, what, name string, known []string) {
	*ps = append(*ps, Problem{at, fmt.Sprintf("unknown %s %q", what, name), Nearest(name, known)})
}

func (ps problems) err() error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// Nearest is the known name that a typist most likely meant by name, or "". A known name
// whose length differs by more than the bound is not compared: foreign names have no limit.
func Nearest(name string, known []string) string {
	best, bound := "", max(len(name)/3, 1)+1
	for _, k := range known {
		if len(name)-len(k) >= bound || len(k)-len(name) >= bound {
			continue
		}
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < bound {
			best, bound = k, d
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours between two names.
func distance(a, b string) int {
	before, above := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			if a[i] == b[j] {
				row[j+1] = above[j]
				continue
			}
			row[j+1] = 1 + min(above[j], above[j+1], row[j])
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], 1+before[j-1])
			}
		}
		before, above = above, row
	}
	return above[len(b)]
}
