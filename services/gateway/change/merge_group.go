package change

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// mergeGroupEvent has the reason, which the client library leaves out.
type mergeGroupEvent struct {
	github.MergeGroupEvent
	Reason string `json:"reason"` // of one that is destroyed
}

// mergeGroup reads what a merge queue does with a pull request.
func mergeGroup(e *mergeGroupEvent, c *Change) (missing string) {
	c.at(e.GetAction(), e.GetRepo().GetFullName())
	group := e.GetMergeGroup()
	if group.GetHeadSHA() == "" || group.GetHeadRef() == "" {
		return "a merge group"
	}
	f := Fact{Event: c.Event, ID: fmt.Sprintf("merge_group %s %s %s", group.GetHeadSHA(), c.Action, e.Reason), branches: []string{group.GetHeadRef()}}
	if f = f.inQueue(); len(f.pulls) > 0 {
		c.Facts = []Fact{f}
	}
	return ""
}

// queueBranch matches the branch on which a merge queue tests a pull request.
var queueBranch = lazyregexp.New(`^(?:refs/heads/)?gh-readonly-queue/.+/pr-([0-9]{1,9})-[0-9a-f]{7,64}$`)

// queued returns the pull request that a merge queue tests on the branch, 0 if the branch
// is not a merge queue's.
func queued(branch string) int {
	m := queueBranch.FindStringSubmatch(branch)
	if m == nil {
		return 0
	}
	number, _ := strconv.Atoi(m[1])
	return number
}

// inQueue returns the fact with the pull requests that its branches are a merge queue's of.
func (f Fact) inQueue() Fact {
	for _, branch := range f.branches {
		if number := queued(branch); number > 0 && !slices.Contains(f.pulls, number) {
			f.pulls = append(f.pulls, number)
		}
	}
	return f
}
