package prd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Problem is something wrong with a plan.
type Problem struct {
	File  string
	Line  int
	Story string // its id; empty: not within a story
	What  string
}

func (p *Problem) Error() string {
	if p.Story == "" {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.What)
	}
	return fmt.Sprintf("%s:%d: story %s: %s", p.File, p.Line, p.Story, p.What)
}

// problem notes one at an offset.
func (r *reader) problem(at int, story, format string, args ...any) {
	r.problems = append(r.problems, &Problem{r.name, r.line(at), story, fmt.Sprintf(format, args...)})
}

func (r *reader) line(at int) int {
	return 1 + bytes.Count(r.src[:min(max(at, 0), len(r.src))], []byte("\n"))
}

func (r *reader) err() error {
	slices.SortStableFunc(r.problems, func(a, b *Problem) int { return cmp.Compare(a.Line, b.Line) })
	var all []error
	for _, p := range r.problems {
		all = append(all, p)
	}
	return errors.Join(all...)
}

// syntax is what the JSON decoder said, with its line.
func (r *reader) syntax(err error) error {
	at := len(r.src)
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		at = int(syntax.Offset)
	}
	r.problem(at, "", "this is no JSON: %v", err)
	return r.err()
}
