package github

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// newestAtOnce is how many repositories one query is about. GitHub counts it as a point.
const newestAtOnce = 50

// newestOf is what a query reads of each repository.
const newestOf = `fragment newest on Repository {
  issues(first: 1, orderBy: {field: UPDATED_AT, direction: DESC}) { nodes { updatedAt } }
  pullRequests(first: 1, orderBy: {field: UPDATED_AT, direction: DESC}) { nodes { updatedAt } }
}`

// LastChanged returns when an issue, in any state, or a pull request of each repository has
// changed last; the zero time where there is none. It is one query for many of an owner's.
func (c *Client) LastChanged(ctx context.Context, repos []string) (map[string]time.Time, error) {
	byOwner := map[string][]string{}
	for _, repo := range repos {
		owner, _, err := split(repo)
		if err != nil {
			return nil, err
		}
		byOwner[strings.ToLower(owner)] = append(byOwner[strings.ToLower(owner)], repo)
	}
	all := map[string]time.Time{}
	for _, of := range byOwner {
		for some := range slices.Chunk(of, newestAtOnce) {
			if err := c.newest(ctx, some, all); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// newest adds the repositories of one owner.
func (c *Client) newest(ctx context.Context, repos []string, all map[string]time.Time) error {
	var parameters, fields []string
	variables := map[string]any{}
	for i, repo := range repos {
		owner, name, _ := strings.Cut(repo, "/")
		variables[fmt.Sprintf("o%d", i)], variables[fmt.Sprintf("n%d", i)] = owner, name
		parameters = append(parameters, fmt.Sprintf("$o%d: String!, $n%d: String!", i, i))
		fields = append(fields, fmt.Sprintf("  r%d: repository(owner: $o%d, name: $n%d) { ...newest }\n", i, i, i))
	}
	type nodes struct {
		Nodes []*struct{ UpdatedAt time.Time }
	}
	var answer map[string]struct{ Issues, PullRequests nodes }
	query := fmt.Sprintf("query (%s) {\n%s}\n%s\n", strings.Join(parameters, ", "), strings.Join(fields, ""), newestOf)
	if err := c.graphql(about(ctx, repos[0]), "read what is new in "+strings.Join(repos, ", "), query, variables, &answer); err != nil {
		return err
	}
	for i, repo := range repos {
		of, newest := answer[fmt.Sprintf("r%d", i)], time.Time{}
		for _, one := range append(of.Issues.Nodes, of.PullRequests.Nodes...) {
			if one != nil && one.UpdatedAt.After(newest) {
				newest = one.UpdatedAt
			}
		}
		all[repo] = newest
	}
	return nil
}
