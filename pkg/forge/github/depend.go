package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/forge"
)

var _ forge.Depending = (*Client)(nil)

// BlockedBy lists the issues that GitHub has down as blocking an issue. Those that the
// token does not reach are not among them. A server without such a list has none.
func (c *Client) BlockedBy(ctx context.Context, repo string, number int) ([]forge.Issue, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	rows, err := readAll[*issueRow](ctx, c, fmt.Sprintf("repos/%s/%s/issues/%d/dependencies/blocked_by", owner, name, number))
	if err != nil {
		return nil, explain(ctx, fmt.Sprintf("list the issues that block %s#%d", repo, number), err)
	}
	var all []forge.Issue
	for _, row := range present(rows) {
		in := repo
		if _, path, ok := strings.Cut(row.GetRepositoryURL(), "/repos/"); ok && !strings.EqualFold(path, repo) {
			in = path
		}
		all = append(all, row.issue(in))
	}
	return all, nil
}
