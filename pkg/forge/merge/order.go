package merge

import (
	"cmp"
	"slices"
)

// sorted is the snapshot with its lists in an order of their own, so that the
// order they were read in decides nothing.
func sorted(s Snapshot) Snapshot {
	s.Labels, s.Methods = order(s.Labels, cmp.Compare), order(s.Methods, cmp.Compare)
	s.Checks = order(s.Checks, func(a, b Check) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.App, b.App), a.At.Compare(b.At),
			cmp.Compare(a.State, b.State), cmp.Compare(a.URL, b.URL), cmp.Compare(a.Note, b.Note))
	})
	s.Reviews = order(s.Reviews, func(a, b Review) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	s.Threads = order(s.Threads, func(a, b Thread) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.ID, b.ID))
	})
	s.Comments = order(s.Comments, func(a, b Comment) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Path, b.Path), cmp.Compare(a.ID, b.ID))
	})
	s.Pushes = order(s.Pushes, func(a, b Push) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.After, b.After), cmp.Compare(a.By.ID, b.By.ID))
	})
	s.Unread = order(s.Unread, func(a, b Unread) int { return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Why, b.Why)) })
	p := &s.Protection
	p.Methods, p.Others = order(p.Methods, cmp.Compare), order(p.Others, cmp.Compare)
	p.Checks = order(p.Checks, func(a, b RequiredCheck) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.App, b.App)) })
	return s
}

func order[T any](rows []T, by func(a, b T) int) []T {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, by)
	return rows
}
