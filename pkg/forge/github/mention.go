package github

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/forge"
)

// mention is a pull request in the references of an issue.
type mention struct {
	Number     int
	State      string
	URL        string
	Repository struct{ NameWithOwner string }
	Author     *actor
}

func (m mention) forge(closes bool) forge.Mention {
	return forge.Mention{Number: m.Number, Closes: closes, State: strings.ToLower(m.State), Author: m.Author.user(), URL: m.URL}
}

// Mentions lists the pull requests of the repository that mention the issue, by number:
// in their text, or by a link that closes it.
func (c *Client) Mentions(ctx context.Context, repo string, issue int) ([]forge.Mention, error) {
	found := map[int]forge.Mention{}
	note := func(m mention, named string, closes bool) {
		if m.Number != 0 && m.Repository.NameWithOwner == named {
			found[m.Number] = m.forge(closes || found[m.Number].Closes)
		}
	}
	what := fmt.Sprintf("read what mentions %s#%d", repo, issue)
	err := c.connection(ctx, what, mentionsQuery, repo, issue, func(i issueReferences, named string) cursor {
		for _, n := range i.TimelineItems.Nodes {
			note(n.Source, named, n.WillCloseTarget)
		}
		return i.TimelineItems.PageInfo
	})
	if err != nil {
		return nil, err
	}
	err = c.connection(ctx, what, closersQuery, repo, issue, func(i issueReferences, named string) cursor {
		for _, m := range i.ClosedBy.Nodes {
			note(m, named, true)
		}
		return i.ClosedBy.PageInfo
	})
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(found), func(a, b forge.Mention) int { return cmp.Compare(a.Number, b.Number) }), nil
}

type issueReferences struct {
	TimelineItems struct {
		PageInfo cursor
		Nodes    []struct {
			WillCloseTarget bool
			Source          mention // empty for an issue
		}
	}
	ClosedBy struct {
		PageInfo cursor
		Nodes    []mention
	} `json:"closedByPullRequestsReferences"`
}

// connection reads all pages of a connection of the issue. page gets each, and the name
// that the repository has now.
func (c *Client) connection(ctx context.Context, what, query, repo string, issue int, page func(of issueReferences, named string) cursor) error {
	owner, name, err := split(repo)
	if err != nil {
		return err
	}
	for next := (cursor{HasNextPage: true}); next.HasNextPage; {
		var answer struct {
			Repository struct {
				NameWithOwner string
				Issue         issueReferences
			}
		}
		err := c.graphql(about(ctx, repo), what, query, map[string]any{"owner": owner, "name": name, "number": issue, "after": next.next()}, &answer)
		if err != nil {
			return err
		}
		next = page(answer.Repository.Issue, answer.Repository.NameWithOwner)
	}
	return nil
}
