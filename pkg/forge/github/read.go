package github

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/forge"
)

// perPage is the largest page of GitHub.
const perPage = 100

var repoPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9_.-]+$`)

// split splits owner/name.
func split(repo string) (owner, name string, err error) {
	owner, name, _ = strings.Cut(repo, "/")
	if !repoPattern.MatchString(repo) || name == "." || name == ".." {
		return "", "", fmt.Errorf("github: %w: repository %q: want owner/name", forge.ErrInvalid, repo)
	}
	return owner, name, nil
}

// pages collects the rows of all pages.
func pages[T any](fetch func(github.ListOptions) ([]*T, *github.Response, error)) ([]*T, error) {
	var all []*T
	for options := (github.ListOptions{PerPage: perPage}); ; {
		rows, resp, err := fetch(options)
		if err != nil {
			return nil, err
		}
		all = append(all, present(rows)...)
		if resp.NextPage == 0 {
			return all, nil
		}
		options.Page = resp.NextPage
	}
}

// present returns the rows of a list that are not null.
func present[T any](rows []*T) []*T {
	return slices.DeleteFunc(rows, func(row *T) bool { return row == nil })
}

// Issues lists the open issues that changed at or after the time, the one that changed
// longest ago first. One that changes while the pages are read moves to the end, so it is
// not missed.
func (c *Client) Issues(ctx context.Context, repo string, since time.Time) ([]forge.Issue, error) {
	return c.issues(ctx, repo, url.Values{"state": {"open"}}, since)
}

// Closed lists the closed issues, as Issues does the open ones.
func (c *Client) Closed(ctx context.Context, repo string, since time.Time) ([]forge.Issue, error) {
	return c.issues(ctx, repo, url.Values{"state": {"closed"}}, since)
}

// IssuesBy lists the issues that the user opened, open and closed, as Issues does.
func (c *Client) IssuesBy(ctx context.Context, repo, login string) ([]forge.Issue, error) {
	return c.issues(ctx, repo, url.Values{"state": {"all"}, "creator": {login}}, time.Time{})
}

// issues lists the issues that the filter selects.
func (c *Client) issues(ctx context.Context, repo string, filter url.Values, since time.Time) ([]forge.Issue, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	seen := map[int]forge.Issue{}
	for page := 0; ; {
		query := url.Values{"sort": {"updated"}, "direction": {"asc"}, "per_page": {strconv.Itoa(perPage)}}
		maps.Copy(query, filter)
		if !since.IsZero() {
			query.Set("since", since.UTC().Format(time.RFC3339))
		}
		if page > 0 {
			query.Set("page", strconv.Itoa(page))
		}
		var rows []*issueRow
		request, err := c.api.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/issues?%s", owner, name, query.Encode()), nil)
		if err != nil {
			return nil, err
		}
		resp, err := c.api.Do(ctx, request, &rows)
		if err != nil {
			return nil, explain(ctx, "list the issues of "+repo, err)
		}
		rows = present(rows)
		for _, row := range rows {
			if !row.IsPullRequest() {
				seen[row.GetNumber()] = row.issue(repo)
			}
		}
		if resp.NextPage == 0 || len(rows) == 0 {
			break
		}
		// An issue that is changed or closed now would shift the pages and hide a row. So go on from
		// the last time seen, less the second in which more may have happened. Go by pages
		// only where that is no progress.
		page = resp.NextPage
		if from := rows[len(rows)-1].GetUpdatedAt().Add(-time.Second); from.After(since) {
			since, page = from, 0
		}
	}
	issues := make([]forge.Issue, 0, len(seen))
	for _, i := range seen {
		issues = append(issues, i)
	}
	slices.SortFunc(issues, func(a, b forge.Issue) int {
		return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.Number, b.Number))
	})
	return issues, nil
}

// Issue reads one issue. The number of a pull request, or of an issue that was transferred,
// is ErrNotFound.
func (c *Client) Issue(ctx context.Context, repo string, number int) (forge.Issue, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.Issue{}, err
	}
	what := fmt.Sprintf("read issue %s#%d", repo, number)
	row := new(issueRow)
	if err := c.get(ctx, fmt.Sprintf("repos/%s/%s/issues/%d", owner, name, number), row); err != nil {
		return forge.Issue{}, explain(ctx, what, err)
	}
	if row.IsPullRequest() {
		return forge.Issue{}, fmt.Errorf("github: %s: %w: it is a pull request", what, forge.ErrNotFound)
	}
	if row.GetNumber() != number {
		return forge.Issue{}, fmt.Errorf("github: %s: %w: it was transferred to %s", what, forge.ErrNotFound, row.GetHTMLURL())
	}
	return row.issue(repo), nil
}

// Comments lists the issue's comments changed since the given time, oldest
// first.
func (c *Client) Comments(ctx context.Context, repo string, number int, since time.Time) ([]forge.Comment, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	rows, err := c.comments(ctx, owner, name, number, since)
	if err != nil {
		return nil, explain(ctx, fmt.Sprintf("list the comments on %s#%d", repo, number), err)
	}
	return comments(rows), nil
}

// Discussed lists the comments of the repository that changed, by their ids.
func (c *Client) Discussed(ctx context.Context, repo string, since time.Time) ([]forge.Comment, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	rows, err := c.comments(ctx, owner, name, 0, since)
	if err != nil {
		return nil, explain(ctx, "list the comments in "+repo, err)
	}
	return comments(rows), nil
}

// comments lists the comments on an issue, 0: of the repository.
func (c *Client) comments(ctx context.Context, owner, name string, number int, since time.Time) ([]*github.IssueComment, error) {
	return pages(func(page github.ListOptions) ([]*github.IssueComment, *github.Response, error) {
		options := &github.IssueListCommentsOptions{ListOptions: page}
		if utc := since.UTC(); !since.IsZero() {
			options.Since = &utc
		}
		return c.api.Issues.ListComments(ctx, owner, name, number, options)
	})
}

func comments(rows []*github.IssueComment) []forge.Comment {
	comments := make([]forge.Comment, 0, len(rows))
	for _, row := range rows {
		comments = append(comments, comment(row))
	}
	return comments
}

var roles = []string{"admin", "maintain", "write", "triage", "read", "none"}

// Permission returns the user's permission: the name of the role, or, for a custom role of
// the organisation, the nearest of GitHub's. An unknown user is ErrNotFound.
func (c *Client) Permission(ctx context.Context, repo, user string) (string, error) {
	owner, name, err := split(repo)
	if err != nil {
		return "", err
	}
	row, _, err := c.api.Repositories.GetPermissionLevel(ctx, owner, name, url.PathEscape(user))
	if err != nil {
		return "", explain(ctx, fmt.Sprintf("read the permission of %s on %s", user, repo), err)
	}
	if role := row.GetUser().GetRoleName(); slices.Contains(roles, role) {
		return role, nil
	}
	return row.GetPermission(), nil
}

// LabelSetter returns who set the label that the issue has, by the newest event of it.
func (c *Client) LabelSetter(ctx context.Context, repo string, number int, label string) (string, error) {
	rows, err := c.issueEvents(ctx, repo, number)
	if err != nil {
		return "", err
	}
	setter := ""
	for _, row := range rows { // the oldest first
		if !strings.EqualFold(row.GetLabel().GetName(), label) {
			continue
		}
		switch row.GetEvent() {
		case "labeled":
			setter = row.GetActor().GetLogin()
		case "unlabeled":
			setter = ""
		}
	}
	if setter == "" {
		return "", fmt.Errorf("github: find the person that labelled %s#%d %q: %w", repo, number, label, forge.ErrNotFound)
	}
	return setter, nil
}

// issueEvents lists the events of an issue, the oldest first.
func (c *Client) issueEvents(ctx context.Context, repo string, number int) ([]*github.IssueEvent, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	rows, err := pages(func(page github.ListOptions) ([]*github.IssueEvent, *github.Response, error) {
		return c.api.Issues.ListIssueEvents(ctx, owner, name, number, &page)
	})
	if err != nil {
		return nil, explain(ctx, fmt.Sprintf("list the events of %s#%d", repo, number), err)
	}
	return rows, nil
}

// PullRequestByHead finds the newest open pull request from the branch of the
// repository itself, never of a fork.
func (c *Client) PullRequestByHead(ctx context.Context, repo, branch string) (forge.PullRequest, error) {
	found, err := c.byHead(ctx, repo, branch, "open")
	if err != nil {
		return forge.PullRequest{}, err
	}
	if len(found) == 0 {
		return forge.PullRequest{}, fmt.Errorf("github: find the pull request of %s on %s: %w: none is open", branch, repo, forge.ErrNotFound)
	}
	return c.PullRequest(ctx, repo, found[0].Number)
}

// PullRequestsByHead implements forge.History.
func (c *Client) PullRequestsByHead(ctx context.Context, repo, branch string) ([]forge.PullRequest, error) {
	return c.byHead(ctx, repo, branch, "all")
}

// byHead lists the pull requests of a state from the branch of the repository itself, newest first.
func (c *Client) byHead(ctx context.Context, repo, branch, state string) (all []forge.PullRequest, err error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	rows, err := pages(func(page github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
		return c.api.PullRequests.List(ctx, owner, name, &github.PullRequestListOptions{
			State: state, Head: owner + ":" + branch, Sort: "created", Direction: "desc", ListOptions: page,
		})
	})
	if err != nil {
		return nil, explain(ctx, fmt.Sprintf("find the pull requests of %s on %s", branch, repo), err)
	}
	for _, row := range rows {
		// GitHub ignores a head it cannot parse and lists everything.
		if pr := pullRequest(repo, row); pr.HeadRef == branch && strings.EqualFold(pr.HeadRepo, repo) {
			all = append(all, pr)
		}
	}
	return all, nil
}

// PullRequest reads one pull request.
func (c *Client) PullRequest(ctx context.Context, repo string, number int) (forge.PullRequest, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.PullRequest{}, err
	}
	row, _, err := c.api.PullRequests.Get(ctx, owner, name, number)
	if err != nil {
		return forge.PullRequest{}, explain(ctx, fmt.Sprintf("read pull request %s#%d", repo, number), err)
	}
	return pullRequest(repo, row), nil
}

// Repository returns the default branch and the URL to clone from.
func (c *Client) Repository(ctx context.Context, repo string) (forge.Repository, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.Repository{}, err
	}
	row, _, err := c.api.Repositories.Get(ctx, owner, name)
	if err != nil {
		return forge.Repository{}, explain(ctx, "read repository "+repo, err)
	}
	return forge.Repository{Name: row.GetFullName(), DefaultBranch: row.GetDefaultBranch(), CloneURL: row.GetCloneURL()}, nil
}
