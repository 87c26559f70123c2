package github

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// PullRequests lists the pull requests in any state that changed at or after the time, the
// one that changed longest ago first. It reads from the newest change back, so one that
// changes meanwhile can appear twice, but is not missed.
func (c *Client) PullRequests(ctx context.Context, repo string, since time.Time) ([]forge.PullRequest, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	seen := map[int]forge.PullRequest{}
	options := &github.PullRequestListOptions{
		State: "all", Sort: "updated", Direction: "desc", ListOptions: github.ListOptions{PerPage: perPage},
	}
	for more := true; more; {
		rows, resp, err := c.api.PullRequests.List(ctx, owner, name, options)
		if err != nil {
			return nil, explain(ctx, "list the pull requests of "+repo, err)
		}
		for _, row := range rows {
			if row.GetUpdatedAt().Before(since) {
				resp.NextPage = 0
			} else if _, ok := seen[row.GetNumber()]; !ok {
				seen[row.GetNumber()] = pullRequest(repo, row)
			}
		}
		options.Page, more = resp.NextPage, resp.NextPage != 0
	}
	return slices.SortedFunc(maps.Values(seen), func(a, b forge.PullRequest) int {
		return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.Number, b.Number))
	}), nil
}

// Pushes lists the moves of the branch, newest first, at most a hundred. go-github has no
// call for it.
func (c *Client) Pushes(ctx context.Context, repo, branch string) ([]forge.Push, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		Before, After string
		Timestamp     time.Time
		Kind          string `json:"activity_type"`
		Actor         *github.User
	}
	query := url.Values{"ref": {"refs/heads/" + branch}, "per_page": {fmt.Sprint(perPage)}}
	if err := c.get(ctx, fmt.Sprintf("repos/%s/%s/activity?%s", owner, name, query.Encode()), &rows); err != nil {
		return nil, explain(ctx, fmt.Sprintf("list the pushes to %s of %s", branch, repo), err)
	}
	pushes := []forge.Push{}
	for _, row := range rows {
		pushes = append(pushes, forge.Push{Before: row.Before, After: row.After, Kind: row.Kind, Actor: user(row.Actor), At: row.Timestamp})
	}
	return pushes, nil
}

// Commits lists the commits of the pull request, oldest first.
func (c *Client) Commits(ctx context.Context, repo string, number int) ([]forge.Commit, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	rows, err := pages(func(page github.ListOptions) ([]*github.RepositoryCommit, *github.Response, error) {
		return c.api.PullRequests.ListCommits(ctx, owner, name, number, &page)
	})
	if err != nil {
		return nil, explain(ctx, fmt.Sprintf("list the commits of %s#%d", repo, number), err)
	}
	commits := []forge.Commit{}
	for _, row := range rows {
		subject, _, _ := strings.Cut(row.GetCommit().GetMessage(), "\n")
		commit := forge.Commit{
			SHA: row.GetSHA(), Subject: subject, Author: user(row.GetAuthor()), Committer: user(row.GetCommitter()),
			At: row.GetCommit().GetCommitter().GetDate().Time,
		}
		for _, p := range row.Parents {
			commit.Parents = append(commit.Parents, p.GetSHA())
		}
		commits = append(commits, commit)
	}
	return commits, nil
}
