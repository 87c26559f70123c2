package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// queued is a pull request as the merge queue has it.
type queued struct {
	ID         string
	HeadRefOid string
	Entry      *struct {
		State    string
		Position int
		Enqueuer *actor
	} `json:"mergeQueueEntry"`
	Removals struct {
		Nodes []struct {
			CreatedAt time.Time
			Reason    string
			Actor     *actor
		}
	} `json:"timelineItems"`
}

func (c *Client) queued(ctx context.Context, repo string, number int) (queued, error) {
	owner, name, err := split(repo)
	if err != nil {
		return queued{}, err
	}
	var answer struct {
		Repository struct{ PullRequest queued }
	}
	err = c.graphql(about(ctx, repo), fmt.Sprintf("read the merge queue of %s#%d", repo, number), queuedQuery,
		map[string]any{"owner": owner, "name": name, "number": number}, &answer)
	return answer.Repository.PullRequest, err
}

// Queued reads how the pull request stands in the merge queue. Only GraphQL has it.
func (c *Client) Queued(ctx context.Context, repo string, number int) (merge.Queued, error) {
	found, err := c.queued(ctx, repo, number)
	if err != nil {
		return merge.Queued{}, err
	}
	person := func(a *actor) merge.Person { u := a.user(); return merge.Person{Login: u.Login, Bot: u.Bot} }
	var q merge.Queued
	if e := found.Entry; e != nil {
		q.State, q.Position, q.By = e.State, e.Position, person(e.Enqueuer)
	}
	for _, r := range found.Removals.Nodes {
		q.Removed, q.Reason, q.Remover = r.CreatedAt, r.Reason, person(r.Actor)
	}
	return q, nil
}

// Enqueue puts the given head in the merge queue. It reads first, so a second call finds
// what a first one did whose answer was lost.
func (c *Client) Enqueue(ctx context.Context, repo string, number int, head string) error {
	what := fmt.Sprintf("put %s#%d in the merge queue", repo, number)
	found, err := c.queued(ctx, repo, number)
	switch {
	case err != nil:
		return err
	case found.HeadRefOid != head:
		return fmt.Errorf("github: %s: %w: it is at %s", what, forge.ErrHeadMoved, found.HeadRefOid)
	case found.Entry != nil:
		return nil
	}
	var answer struct{}
	err = c.graphql(about(ctx, repo), what, enqueueMutation, map[string]any{"id": found.ID, "head": head}, &answer)
	return unqueueable(err)
}

// Dequeue takes the pull request out of the merge queue.
func (c *Client) Dequeue(ctx context.Context, repo string, number int) error {
	found, err := c.queued(ctx, repo, number)
	if err != nil || found.Entry == nil {
		return err
	}
	var answer struct{}
	what := fmt.Sprintf("take %s#%d out of the merge queue", repo, number)
	return unqueueable(c.graphql(about(ctx, repo), what, dequeueMutation, map[string]any{"id": found.ID}, &answer))
}

// unqueueable returns a refusal of GraphQL as one of a merge.
func unqueueable(err error) error {
	if errors.Is(err, forge.ErrInvalid) {
		return fmt.Errorf("%w: %w", forge.ErrNotMergeable, err)
	}
	return err
}
