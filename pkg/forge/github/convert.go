package github

import (
	"strconv"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

func user(row *github.User) forge.User {
	return forge.User{
		ID: row.GetID(), Login: row.GetLogin(),
		Bot: row.GetType() == "Bot" || strings.HasSuffix(row.GetLogin(), "[bot]"),
	}
}

// issueRow is an issue as the API gives it, with what go-github leaves out.
type issueRow struct {
	github.Issue
	Dependencies struct {
		BlockedBy int `json:"blocked_by"`
	} `json:"issue_dependencies_summary"`
}

func (r *issueRow) issue(repo string) forge.Issue {
	i := issue(repo, &r.Issue)
	i.Blocked = r.Dependencies.BlockedBy
	return i
}

func issue(repo string, row *github.Issue) forge.Issue {
	var labels []string
	for _, l := range row.Labels {
		labels = append(labels, l.GetName())
	}
	return forge.Issue{
		Repo: repo, Number: row.GetNumber(), NodeID: row.GetNodeID(), Title: row.GetTitle(), Body: row.GetBody(),
		State: row.GetState(), Locked: row.GetLocked(), Labels: labels, Author: user(row.GetUser()), URL: row.GetHTMLURL(),
		CreatedAt: row.GetCreatedAt().Time, UpdatedAt: row.GetUpdatedAt().Time,
	}
}

func comment(row *github.IssueComment) forge.Comment {
	return forge.Comment{
		ID: row.GetID(), NodeID: row.GetNodeID(), Body: row.GetBody(), Author: user(row.GetUser()), URL: row.GetHTMLURL(),
		CreatedAt: row.GetCreatedAt().Time, UpdatedAt: row.GetUpdatedAt().Time, On: numberIn(row.GetIssueURL()),
	}
}

// numberIn returns the number that the address of an issue ends with; 0: it has none.
func numberIn(address string) int {
	number, _ := strconv.Atoi(address[strings.LastIndexByte(address, '/')+1:])
	return number
}

// pullRequest returns a pull request of the repository, as that is named here.
func pullRequest(repo string, row *github.PullRequest) forge.PullRequest {
	pr := forge.PullRequest{
		Number: row.GetNumber(), NodeID: row.GetNodeID(), Title: row.GetTitle(), Body: row.GetBody(), State: row.GetState(),
		Draft: row.GetDraft(),
		// Lists have the time of a merge, but no flag.
		Merged: row.GetMerged() || row.MergedAt != nil,
		// Not GetMergeable: it returns false where GitHub does not know yet.
		Mergeable: row.Mergeable, MergeableState: row.GetMergeableState(),
		HeadRef: row.GetHead().GetRef(), HeadSHA: row.GetHead().GetSHA(), HeadRepo: row.GetHead().GetRepo().GetFullName(),
		BaseRef: row.GetBase().GetRef(), BaseSHA: row.GetBase().GetSHA(),
		Author: user(row.GetUser()), URL: row.GetHTMLURL(),
		CreatedAt: row.GetCreatedAt().Time, UpdatedAt: row.GetUpdatedAt().Time,
	}
	if id := row.GetBase().GetRepo().GetID(); id != 0 && row.GetHead().GetRepo().GetID() == id {
		pr.HeadRepo = repo // by which it is asked for, also after it was renamed
	}
	for _, l := range row.Labels {
		pr.Labels = append(pr.Labels, l.GetName())
	}
	for _, u := range present(row.RequestedReviewers) {
		pr.Requested = append(pr.Requested, u.GetID())
	}
	if pr.Merged { // before, it is a commit that only tries the merge
		pr.MergeSHA = row.GetMergeCommitSHA()
	}
	return pr
}
