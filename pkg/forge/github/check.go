package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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

// CheckRuns lists the newest run of every check in each of the suites on the commit. Where
// several suites of Actions have runs of one name, it reads which workflows they are of.
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
			StartedAt: row.GetStartedAt().Time, CompletedAt: row.GetCompletedAt().Time, Suite: row.GetCheckSuite().GetID(),
		})
	}
	return runs, c.addWorkflows(ctx, repo, sha, rows, runs)
}

// actions is the name of GitHub's own App, whose suites are runs of workflows.
const actions = "github-actions"

// addWorkflows tells the workflows of runs whose name is in several suites of Actions.
func (c *Client) addWorkflows(ctx context.Context, repo, sha string, rows []*github.CheckRun, runs []forge.CheckRun) error {
	suites := map[string]map[int64]bool{}
	for _, row := range rows {
		if row.GetApp().GetSlug() == actions {
			if suites[row.GetName()] == nil {
				suites[row.GetName()] = map[int64]bool{}
			}
			suites[row.GetName()][row.GetCheckSuite().GetID()] = true
		}
	}
	several := func(row *github.CheckRun) bool {
		return row.GetApp().GetSlug() == actions && len(suites[row.GetName()]) > 1
	}
	if !slices.ContainsFunc(rows, several) {
		return nil
	}
	of, err := c.workflows(ctx, repo, sha)
	if readable(err) != nil {
		return err
	}
	for i, row := range rows {
		if !several(row) {
			continue
		}
		workflow, known := of[row.GetCheckSuite().GetID()]
		switch {
		case err != nil:
			runs[i].WorkflowUnread = err.Error()
		case !known:
			runs[i].WorkflowUnread = fmt.Sprintf("no workflow run of the suite %d is listed", row.GetCheckSuite().GetID())
		default:
			runs[i].Workflow = workflow
		}
	}
	return nil
}

// workflows returns the workflow of each suite of Actions on a commit.
func (c *Client) workflows(ctx context.Context, repo, sha string) (map[int64]string, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	rows, err := pages(func(page github.ListOptions) ([]*github.WorkflowRun, *github.Response, error) {
		options := &github.ListWorkflowRunsOptions{HeadSHA: sha, ListOptions: page}
		found, resp, err := c.api.Actions.ListRepositoryWorkflowRuns(ctx, owner, name, options)
		if err != nil {
			return nil, resp, err
		}
		return found.WorkflowRuns, resp, nil
	})
	if err != nil {
		return nil, explain(ctx, fmt.Sprintf("read the workflow runs of %s in %s", sha, repo), err)
	}
	of := map[int64]string{}
	for _, row := range rows {
		// A workflow that is run by two events has a suite for each, and both count.
		of[row.GetCheckSuiteID()] = fmt.Sprintf("%d %s", row.GetWorkflowID(), row.GetEvent())
	}
	return of, nil
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
