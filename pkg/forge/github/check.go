package github

import (
	"cmp"
	"context"
	"fmt"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// Statuses lists the newest status of every context on the commit.
func (c *Client) Statuses(ctx context.Context, repo, sha string) ([]forge.Status, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	rows, err := pages(func(page github.ListOptions) ([]*github.RepoStatus, *github.Response, error) {
		combined, resp, err := c.api.Repositories.GetCombinedStatus(ctx, owner, name, sha, &page)
		if err != nil {
			return nil, resp, err
		}
		return combined.Statuses, resp, nil
	})
	if err != nil {
		return nil, explain(ctx, fmt.Sprintf("read the statuses of %s in %s", sha, repo), err)
	}
	statuses := []forge.Status{}
	for _, row := range rows {
		statuses = append(statuses, forge.Status{
			Context: row.GetContext(), State: row.GetState(), Description: row.GetDescription(), URL: row.GetTargetURL(),
			At: row.GetUpdatedAt().Time,
		})
	}
	return statuses, nil
}

// CheckRuns lists the newest run of every check on the commit.
func (c *Client) CheckRuns(ctx context.Context, repo, sha string) ([]forge.CheckRun, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	rows, err := pages(func(page github.ListOptions) ([]*github.CheckRun, *github.Response, error) {
		options := &github.ListCheckRunsOptions{Filter: github.String("latest"), ListOptions: page}
		found, resp, err := c.api.Checks.ListCheckRunsForRef(ctx, owner, name, sha, options)
		if err != nil {
			return nil, resp, err
		}
		return found.CheckRuns, resp, nil
	})
	if err != nil {
		return nil, explain(ctx, fmt.Sprintf("read the check runs of %s in %s", sha, repo), err)
	}
	runs := []forge.CheckRun{}
	for _, row := range rows {
		runs = append(runs, forge.CheckRun{
			ID: row.GetID(), Name: row.GetName(), App: row.GetApp().GetID(), Status: row.GetStatus(), Conclusion: row.GetConclusion(),
			Title: row.GetOutput().GetTitle(), Summary: row.GetOutput().GetSummary(), URL: cmp.Or(row.GetDetailsURL(), row.GetHTMLURL()),
			StartedAt: row.GetStartedAt().Time, CompletedAt: row.GetCompletedAt().Time,
		})
	}
	return runs, nil
}

// Behind counts the commits of the base branch that the head does not have.
func (c *Client) Behind(ctx context.Context, repo, base, head string) (int, error) {
	owner, name, err := split(repo)
	if err != nil {
		return 0, err
	}
	compared, _, err := c.api.Repositories.CompareCommits(ctx, owner, name, base, head, &github.ListOptions{PerPage: 1})
	if err != nil {
		return 0, explain(ctx, fmt.Sprintf("compare %s with %s in %s", head, base, repo), err)
	}
	return compared.GetBehindBy(), nil
}
