package change

import (
	"fmt"
	"strconv"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

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

// Pull is a pull request as it is now, of an instance.
type Pull struct {
	Repo     string
	Pull     forge.PullRequest
	Instance string
}

// Commands implements Seen.
func (p Pull) Commands() []Command {
	id := digest(16, "%s\x00%s\x00%d\x00%d", p.Instance, p.Repo, p.Pull.Number, p.Pull.UpdatedAt.UnixNano())
	return []Command{signal(p.Instance, "changed", "pull/"+id, "gateway", map[string]string{
		"pull_request": strconv.Itoa(p.Pull.Number), "url": p.Pull.URL, "updated_at": p.Pull.UpdatedAt.UTC().Format(time.RFC3339),
	})}
}

// PullReopened is a pull request that is open, and an instance that may have ended because it was
// closed. To open it again takes the permission to write, or to be its author.
type PullReopened struct {
	Repo   string
	Number int
	In     *pb.Instance
}

// closedOutcome is the variable outcome of an instance that ended because its pull request was
// closed (story lifecycle, invalid).
const closedOutcome = "closed"

// Commands implements Seen. The command's id has the end that it undoes.
func (p PullReopened) Commands() []Command {
	vars := p.In.GetVars()
	if p.In.GetIssue().GetRepo() != p.Repo || vars["prNumber"] != strconv.Itoa(p.Number) || vars["outcome"] != closedOutcome || !p.In.GetFailed() {
		return nil
	}
	return []Command{reopen(p.In.GetInstance(), "reopen/pull/"+digest(16, "%s\x00%d", p.In.GetInstance(), p.In.GetSeq()),
		fmt.Sprintf("pull request #%d was opened again on the forge", p.Number))}
}
