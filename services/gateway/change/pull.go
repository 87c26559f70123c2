package change

import "github.com/google/go-github/v60/github"

// pull reads what happened to a pull request and shows in when it was changed.
func pull(e *github.PullRequestEvent, c *Change) (missing string) {
	c.at(e.GetAction(), e.GetRepo().GetFullName())
	return c.changes(e.GetPullRequest(), c.Action == "reopened")
}

func review(e *github.PullRequestReviewEvent, c *Change) (missing string) {
	c.at(e.GetAction(), e.GetRepo().GetFullName())
	return c.changes(e.GetPullRequest(), false)
}

func reviewComment(e *github.PullRequestReviewCommentEvent, c *Change) (missing string) {
	c.at(e.GetAction(), e.GetRepo().GetFullName())
	return c.changes(e.GetPullRequest(), false)
}

func (c *Change) changes(pr *github.PullRequest, reopened bool) (missing string) {
	if pr.GetNumber() <= 0 {
		return "a pull request"
	}
	c.Items = []Item{{Number: pr.GetNumber(), Pull: true, Reopened: reopened}}
	return ""
}

// thread reads that a conversation was resolved, or opened again. No time of the pull request
// shows it.
func thread(e *github.PullRequestReviewThreadEvent, c *Change) (missing string) {
	c.at(e.GetAction(), e.GetRepo().GetFullName())
	if e.GetPullRequest().GetNumber() <= 0 {
		return "a pull request"
	}
	c.Facts = []Fact{{Event: c.Event, ID: c.once(), pulls: []int{e.GetPullRequest().GetNumber()}}}
	return ""
}

// once returns the id of a fact that only its delivery tells from others of its kind.
func (c *Change) once() string { return "delivery " + c.ID }
