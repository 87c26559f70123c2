package github

import (
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
		ID: row.GetID(), Body: row.GetBody(), Author: user(row.GetUser()), URL: row.GetHTMLURL(),
		CreatedAt: row.GetCreatedAt().Time, UpdatedAt: row.GetUpdatedAt().Time,
	}
}

func pullRequest(row *github.PullRequest) forge.PullRequest {
	return forge.PullRequest{
		Number: row.GetNumber(), Title: row.GetTitle(), Body: row.GetBody(), State: row.GetState(), Draft: row.GetDraft(),
		// Not GetMergeable: it says no where GitHub does not know yet.
		Merged: row.GetMerged(), Mergeable: row.Mergeable, MergeableState: row.GetMergeableState(),
		HeadRef: row.GetHead().GetRef(), HeadSHA: row.GetHead().GetSHA(),
		BaseRef: row.GetBase().GetRef(), BaseSHA: row.GetBase().GetSHA(),
		Author: user(row.GetUser()), URL: row.GetHTMLURL(),
	}
}
