package forge

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestTheNewestRunOfACheckCounts(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 2, 9, minute, 0, 0, time.UTC) }
	run := func(id int64, name string, app, suite int64, minute int, says string) CheckRun {
		r := CheckRun{ID: id, Name: name, App: app, Suite: suite, Status: "completed", Conclusion: says, StartedAt: at(minute)}
		if says == "queued" || says == "in_progress" {
			r.Status, r.Conclusion = says, ""
		}
		return r
	}
	of := func(r CheckRun, workflow string) CheckRun { r.Workflow = workflow; return r }
	unread := func(r CheckRun) CheckRun { r.WorkflowUnread = "denied"; return r }
	queued := run(9, "ci", 1, 19, 0, "queued")
	queued.StartedAt = time.Time{}
	for name, c := range map[string]struct {
		runs []CheckRun
		want []string
	}{
		"a cancelled one has a successor": {[]CheckRun{run(1, "ci", 1, 11, 1, "cancelled"), run(2, "ci", 1, 12, 2, "success")}, []string{"2 success, 1 older"}},
		"in any order":                    {[]CheckRun{run(2, "ci", 1, 12, 2, "success"), run(1, "ci", 1, 11, 1, "failure")}, []string{"2 success, 1 older"}},
		"a red one is newer":              {[]CheckRun{run(1, "ci", 1, 11, 1, "success"), run(2, "ci", 1, 12, 2, "failure")}, []string{"2 failure, 1 older"}},
		"the newest is under way":         {[]CheckRun{run(1, "ci", 1, 11, 1, "success"), run(2, "ci", 1, 12, 2, "in_progress")}, []string{"2 in_progress, 1 older"}},
		"the newest has not started":      {[]CheckRun{queued, run(10, "ci", 1, 11, 5, "success")}, []string{"9 queued, 1 older"}},
		"at the same time the id decides": {[]CheckRun{run(1, "ci", 1, 11, 1, "failure"), run(2, "ci", 1, 12, 1, "success")}, []string{"2 success, 1 older"}},
		"of another App":                  {[]CheckRun{run(1, "ci", 1, 11, 1, "failure"), run(2, "ci", 2, 12, 2, "success")}, []string{"1 failure, 0 older", "2 success, 0 older"}},
		"of another workflow": {[]CheckRun{of(run(1, "ci", 1, 11, 1, "failure"), "a"), of(run(2, "ci", 1, 12, 2, "success"), "b")},
			[]string{"1 failure, 0 older", "2 success, 0 older"}},
		"two of one suite": {[]CheckRun{run(1, "ci", 1, 11, 1, "failure"), run(2, "ci", 1, 11, 2, "success")}, []string{"1 failure, 0 older", "2 success, 0 older"}},
		"two jobs of one name, in two suites": {[]CheckRun{run(1, "ci", 1, 11, 1, "failure"), run(2, "ci", 1, 11, 1, "skipped"), run(3, "ci", 1, 12, 2, "failure"),
			run(4, "ci", 1, 12, 2, "skipped")}, []string{"3 failure, 2 older", "4 skipped, 2 older"}},
		"of no suite": {[]CheckRun{run(1, "ci", 1, 0, 1, "failure"), run(2, "ci", 1, 0, 2, "success")}, []string{"2 success, 1 older"}},
		"workflows that cannot be read, with different results": {[]CheckRun{unread(run(1, "ci", 1, 11, 1, "failure")), unread(run(2, "ci", 1, 12, 2, "success"))},
			[]string{"2 ambiguous, 0 older"}},
		"workflows that cannot be read, with one result": {[]CheckRun{unread(run(1, "ci", 1, 11, 1, "success")), unread(run(2, "ci", 1, 12, 2, "success"))},
			[]string{"2 success, 0 older"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range newest(c.runs) {
				says := r.Conclusion
				if says == "" {
					says = r.Status
				}
				got = append(got, fmt.Sprintf("%d %s, %d older", r.ID, says, r.Older))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("these count: %q, want %q", got, c.want)
			}
		})
	}
}
