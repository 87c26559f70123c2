package app

import (
	"maps"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/learning"
)

// index counts what rows have in common that the board offers to filter by, so that no page goes through all rows for it. The
// first part is of open rows, the second of closed ones.
type index [2]facets

type facets struct {
	rows                            int // those of learnings too
	shown                           int
	repos, workflows, roles, labels map[string]int
}

// choices is the part of an index that a page shows.
type choices struct {
	All, Closed                     int
	Repos, Workflows, Roles, Labels []string
}

// add adds a row n times; -1 removes it.
func (x *index) add(r *row, n int) {
	f := &x[part(r.Closed != "")]
	if f.repos == nil {
		f.repos, f.workflows, f.roles, f.labels = map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	}
	if f.rows += n; r.Workflow == learning.Workflow {
		return
	}
	f.shown += n
	count(f.repos, r.Repo, n)
	count(f.workflows, r.Workflow, n)
	count(f.roles, r.Role, n)
	for _, label := range r.Labels {
		count(f.labels, label, n)
	}
}

func part(closed bool) int {
	if closed {
		return 1
	}
	return 0
}

func count(of map[string]int, name string, n int) {
	if name == "" {
		return
	}
	if of[name] += n; of[name] <= 0 {
		delete(of, name)
	}
}

// choices returns what the board offers of open rows or of closed ones.
func (x *index) choices(closed bool) choices {
	f := x[part(closed)]
	sorted := func(of map[string]int) []string { return slices.Sorted(maps.Keys(of)) }
	c := choices{All: f.shown, Closed: x[1].rows, Repos: sorted(f.repos), Workflows: sorted(f.workflows), Roles: sorted(f.roles), Labels: sorted(f.labels)}
	c.Labels = c.Labels[:min(len(c.Labels), maxLabels)]
	return c
}

// page returns the rows that come from one place to another in order. It leaves the others unsorted.
func page(all []*row, from, to int) []*row {
	place(all, from)
	rest := all[from:]
	place(rest, to-from)
	slices.SortFunc(rest[:to-from], order)
	return rest[:to-from]
}

// place reorders rows so that the first n are those that come first. It takes time in proportion to their number, but for
// rows in an order that is made to be slow.
func place(all []*row, n int) {
	for low, high := 0, len(all); n > low && n < high; {
		pivot := middle(all[low], all[low+(high-low)/2], all[high-1])
		before, after := low, high
		for i := low; i < after; { // before, same, after
			switch c := order(all[i], pivot); {
			case c < 0:
				all[before], all[i] = all[i], all[before]
				before, i = before+1, i+1
			case c > 0:
				after--
				all[after], all[i] = all[i], all[after]
			default:
				i++
			}
		}
		switch {
		case n < before:
			high = before
		case n > after:
			low = after
		default:
			return
		}
	}
}

// middle returns the one of three rows that is neither the first nor the last.
func middle(a, b, c *row) *row {
	if order(a, b) > 0 {
		a, b = b, a
	}
	if order(b, c) <= 0 {
		return b
	}
	if order(a, c) > 0 {
		return a
	}
	return c
}
