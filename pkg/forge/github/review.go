package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// Reviews lists the submitted reviews, oldest first. It leaves out drafts.
func (c *Client) Reviews(ctx context.Context, repo string, number int) ([]forge.Review, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	rows, err := pages(func(page github.ListOptions) ([]*github.PullRequestReview, *github.Response, error) {
		return c.api.PullRequests.ListReviews(ctx, owner, name, number, &page)
	})
	if err != nil {
		return nil, explain(ctx, fmt.Sprintf("list the reviews of %s#%d", repo, number), err)
	}
	reviews := []forge.Review{}
	for _, row := range rows {
		if row.GetState() != "PENDING" {
			reviews = append(reviews, forge.Review{
				ID: row.GetID(), Author: user(row.GetUser()), State: row.GetState(), Commit: row.GetCommitID(), Body: row.GetBody(),
				URL: row.GetHTMLURL(), At: row.GetSubmittedAt().Time,
			})
		}
	}
	slices.SortStableFunc(reviews, func(a, b forge.Review) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return reviews, nil
}

// ReviewComments lists the comments on lines of the change, oldest first.
func (c *Client) ReviewComments(ctx context.Context, repo string, number int) ([]forge.ReviewComment, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	rows, err := pages(func(page github.ListOptions) ([]*github.PullRequestComment, *github.Response, error) {
		options := &github.PullRequestListCommentsOptions{Sort: "created", Direction: "asc", ListOptions: page}
		return c.api.PullRequests.ListComments(ctx, owner, name, number, options)
	})
	if err != nil {
		return nil, explain(ctx, fmt.Sprintf("list the comments on lines of %s#%d", repo, number), err)
	}
	comments := []forge.ReviewComment{}
	for _, row := range rows {
		comments = append(comments, reviewComment(row))
	}
	return comments, nil
}

// ReviewState reads the review decision, the conversations and the merge methods.
func (c *Client) ReviewState(ctx context.Context, repo string, number int) (forge.ReviewState, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.ReviewState{}, err
	}
	s := forge.ReviewState{}
	for next := (cursor{HasNextPage: true}); next.HasNextPage; {
		var answer reviewState
		err := c.graphql(about(ctx, repo), fmt.Sprintf("read the conversations of %s#%d", repo, number), reviewStateQuery,
			map[string]any{"owner": owner, "name": name, "number": number, "after": next.next()}, &answer)
		if err != nil {
			return forge.ReviewState{}, err
		}
		pr := answer.Repository.PullRequest
		s.Decision, s.Methods = pr.ReviewDecision, answer.methods()
		for _, r := range pr.Retargetings.Nodes {
			s.Retargeted = r.CreatedAt
		}
		for _, t := range pr.ReviewThreads.Nodes {
			thread := forge.Thread{ID: t.ID, Resolved: t.IsResolved, Outdated: t.IsOutdated, Path: t.Path, Line: t.Line}
			for _, m := range t.Comments.Nodes {
				thread.Comments = append(thread.Comments, int64(m.FullDatabaseID))
			}
			s.Threads = append(s.Threads, thread)
		}
		next = pr.ReviewThreads.PageInfo
	}
	return s, nil
}

type reviewState struct {
	Repository struct {
		MergeCommitAllowed, SquashMergeAllowed, RebaseMergeAllowed bool

		PullRequest struct {
			ReviewDecision string
			Retargetings   struct {
				Nodes []struct{ CreatedAt time.Time }
			} `json:"timelineItems"`
			ReviewThreads struct {
				PageInfo cursor
				Nodes    []struct {
					ID                     string
					IsResolved, IsOutdated bool
					Path                   string
					Line                   int
					Comments               struct {
						Nodes []struct{ FullDatabaseID bigInt }
					}
				}
			}
		}
	}
}

func (s reviewState) methods() []string {
	var methods []string
	for _, m := range []struct {
		name    string
		allowed bool
	}{{"merge", s.Repository.MergeCommitAllowed}, {"squash", s.Repository.SquashMergeAllowed}, {"rebase", s.Repository.RebaseMergeAllowed}} {
		if m.allowed {
			methods = append(methods, m.name)
		}
	}
	return methods
}

// bigInt is a number that GraphQL encodes as text.
type bigInt int64

func (b *bigInt) UnmarshalJSON(data []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(data), `"`), 10, 64)
	*b = bigInt(n)
	return err
}
