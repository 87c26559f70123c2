package change

import "github.com/google/go-github/v60/github"

// The actions after which an issue may be gone.
const (
	deleted     = "deleted"
	transferred = "transferred"
)

// issue reads what happened to an issue.
func issue(e *github.IssuesEvent, c *Change) (missing string) {
	c.at(e.GetAction(), e.GetRepo().GetFullName())
	if e.GetIssue().GetNumber() <= 0 {
		return "an issue"
	}
	c.Items = []Item{{Number: e.GetIssue().GetNumber(), Pull: e.GetIssue().IsPullRequest(), Gone: c.Action == deleted || c.Action == transferred}}
	return ""
}
