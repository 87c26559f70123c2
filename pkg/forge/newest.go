package forge

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// newest returns of each check the runs that count: those of the newest suite in which one
// App ran the check of one workflow. An older run was cancelled by its successor, or failed
// and was run again. A newest one that has not ended counts as it is. Where the workflows of
// several suites could not be read, and their runs say different things, one run says so.
func newest(runs []CheckRun) []CheckRun {
	type check struct {
		app            int64
		name, workflow string
	}
	groups, order := map[check][]CheckRun{}, []check(nil)
	for _, r := range runs {
		k := check{r.App, r.Name, r.Workflow}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	var all []CheckRun
	for _, k := range order {
		group := groups[k]
		last := slices.MaxFunc(group, byStart)
		counts := slices.DeleteFunc(slices.Clone(group), func(r CheckRun) bool { return r.suite() != last.suite() })
		older := len(group) - len(counts)
		if older > 0 && slices.ContainsFunc(group, func(r CheckRun) bool { return r.WorkflowUnread != "" }) {
			counts = []CheckRun{undecided(group, last)}
			older = 0
		}
		for i := range counts {
			counts[i].Older = older
		}
		all = append(all, counts...)
	}
	return all
}

// undecided is the newest of runs that may be of one workflow or of several.
func undecided(group []CheckRun, last CheckRun) CheckRun {
	differs := func(r CheckRun) bool { return r.Status != last.Status || r.Conclusion != last.Conclusion }
	if slices.ContainsFunc(group, differs) {
		last.Status, last.Conclusion = "ambiguous", ""
		last.Title = fmt.Sprintf("%d runs of this name differ, and their workflows cannot be read: %s", len(group), group[0].WorkflowUnread)
	}
	return last
}

// suite identifies the suite of a run; a run of none is a suite of its own.
func (r CheckRun) suite() int64 {
	if r.Suite == 0 {
		return -r.ID
	}
	return r.Suite
}

// byStart orders runs by when they started. One that waits to start is the newest.
func byStart(a, b CheckRun) int {
	start := func(r CheckRun) time.Time {
		if r.StartedAt.IsZero() && r.Status != "completed" {
			return time.Unix(1<<40, 0)
		}
		return r.StartedAt
	}
	return cmp.Or(start(a).Compare(start(b)), cmp.Compare(a.ID, b.ID))
}
