package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/rules"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

func unprocessable(format string, args ...any) *refusalGQL {
	return &refusalGQL{"UNPROCESSABLE", fmt.Sprintf(format, args...)}
}

// pullNode finds a pull request by its id in GraphQL, as its branches are now.
func (c *call) pullNode(id string) (store.Issue, error) {
	i, err := c.node("PullRequest", id, func(r store.Repo, row int64) (int64, bool) {
		found := r.Issues.Where(func(i store.Issue) bool { return i.Pull != nil && i.ID == row })
		if len(found) == 0 {
			return 0, false
		}
		return found[0].Number, true
	})
	if err != nil {
		return i, err
	}
	if err := c.Forge.Follow(c.Context(), c.Name(), 0); err != nil {
		return i, err
	}
	c.Refresh()
	i, _ = c.Repo.Issues.Get(i.Number)
	return i, nil
}

// enqueue puts a pull request in the merge queue of its base.
func (c *call) enqueue(in map[string]any) (object, error) {
	id, _ := in["pullRequestId"].(string)
	i, err := c.pullNode(id)
	if err != nil {
		return nil, err
	}
	if c.Level < store.Write {
		return nil, &refusalGQL{"FORBIDDEN", c.User.Login + " does not have the correct permissions to execute `EnqueuePullRequest`"}
	}
	judge, err := c.Forge.Judge(c.Context(), c.Repo, i)
	if err != nil {
		return nil, err
	}
	d, _ := rules.Of(c.Repo, i.Pull.Base)
	head, _ := in["expectedHeadOid"].(string)
	switch why := judge.UnmetBeforeQueue(); {
	case !d.Queue:
		return nil, unprocessable("The base branch of this pull request has no merge queue")
	case !i.Open() || i.Pull.Draft:
		return nil, unprocessable("Pull request is not in a mergeable state")
	case head != "" && head != i.Pull.HeadSHA:
		return nil, unprocessable("Head branch was modified. Review and try again.")
	case len(why) > 0:
		return nil, unprocessable("%s", strings.Join(why, " "))
	case i.Pull.Queued != nil:
		return nil, unprocessable("Pull request is already in the queue")
	}
	if err := c.putPull(i.Number, func(p *store.Pull, now time.Time) {
		p.Queued = &store.Queued{At: now, By: c.User.ID, Head: p.HeadSHA}
	}); err != nil {
		return nil, err
	}
	i, _ = c.Repo.Issues.Get(i.Number)
	entry := c.gqlEntry(i)
	return object{"mergeQueueEntry": entry}, c.advanceQueues()
}

// dequeue takes a pull request out of the merge queue.
func (c *call) dequeue(in map[string]any) (object, error) {
	id, _ := in["id"].(string)
	i, err := c.pullNode(id)
	if err == nil {
		err = c.mayChange(i, "DequeuePullRequest")
	}
	if err != nil {
		return nil, err
	}
	entry := c.gqlEntry(i)
	if entry == nil {
		return nil, unprocessable("Pull request is not in the queue")
	}
	if err := c.unqueue(i.Number, c.User.ID, "removed manually"); err != nil {
		return nil, err
	}
	return object{"mergeQueueEntry": entry}, c.advanceQueues()
}

// putPull changes the row of a pull request.
func (c *call) putPull(number int64, change func(p *store.Pull, now time.Time)) error {
	return c.Change(func(t *store.Tx, r store.Repo) error {
		i, _ := r.Issues.Get(number)
		p := *i.Pull
		change(&p, t.Now)
		i.Pull = &p
		t.Touch(c.Name(), i)
		return nil
	})
}

func (c *call) unqueue(number, by int64, reason string) error {
	return c.putPull(number, func(p *store.Pull, now time.Time) {
		p.Queued, p.Unqueued = nil, &store.Unqueued{At: now, By: by, Reason: reason}
	})
}

// waiting returns the merge queue of a branch, the first of it first.
func waiting(r store.Repo, base string) []store.Issue {
	rows := r.Issues.Where(func(i store.Issue) bool { return i.Open() && i.Pull.Base == base && i.Pull.Queued != nil })
	slices.SortStableFunc(rows, func(a, b store.Issue) int { return a.Pull.Queued.At.Compare(b.Pull.Queued.At) })
	return rows
}

// advanceQueues merges the first of each merge queue while its checks pass. It takes out
// what conflicts, what moved, and what fails. GitHub tests several at once; here it is
// one after the other.
func (c *call) advanceQueues() error {
	queued := func(i store.Issue) bool { return i.Pull != nil && i.Pull.Queued != nil }
	if len(c.Repo.Issues.Where(queued)) == 0 {
		return nil
	}
	refs := c.Forge.LockRefs(c.Repo)
	defer refs.Unlock()
	for {
		if err := refs.Follow(c.Context(), 0); err != nil {
			return err
		}
		c.Refresh()
		moved := false
		for _, base := range bases(c.Repo.Issues.Where(queued)) {
			for _, first := range waiting(c.Repo, base)[:1] {
				on, err := c.advance(refs, first)
				if err != nil {
					return err
				}
				moved = moved || on
			}
		}
		if !moved {
			return nil
		}
	}
}

// bases returns the branches whose queues the open ones of the pull requests are in.
func bases(rows []store.Issue) []string {
	var all []string
	for _, i := range rows {
		if i.Open() {
			all = append(all, i.Pull.Base)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// groupRef is the branch that has the commit of the first of a queue, for its checks.
func groupRef(i store.Issue) string {
	return fmt.Sprintf("refs/heads/gh-readonly-queue/%s/pr-%d", i.Pull.Base, i.Number)
}

// advance does one step for the first of a queue, and reports whether it changed anything.
func (c *call) advance(refs host.LockedRefs, i store.Issue) (bool, error) {
	ctx, p := context.WithoutCancel(c.Context()), i.Pull
	q := p.Queued
	if q.Head != p.HeadSHA {
		return true, c.unqueue(i.Number, 0, "the head changed")
	}
	if q.Group == "" || q.On != p.BaseSHA {
		d, _ := rules.Of(c.Repo, p.Base)
		sha, err := c.as(q.By).mergeCommit(i, mergeRequest{Method: cmp.Or(d.QueueMethod, "merge")})
		if _, ok := errors.AsType[*failure](err); ok {
			return true, c.unqueue(i.Number, 0, "merge conflict")
		}
		if err == nil {
			_, err = c.Git().Run(ctx, "update-ref", groupRef(i), sha)
		}
		if err != nil {
			return false, err
		}
		return true, c.putPull(i.Number, func(now *store.Pull, _ time.Time) {
			place := *now.Queued
			place.Group, place.On = sha, p.BaseSHA
			now.Queued = &place
		})
	}
	switch rules.Group(c.Repo, p.Base, q.Group) {
	case "pending":
		return false, nil
	case "failing":
		return true, c.unqueue(i.Number, 0, "failed checks")
	}
	if err := c.as(q.By).land(refs, i, q.Group); err != nil {
		return false, err
	}
	_, err := c.Git().Run(ctx, "update-ref", "-d", groupRef(i))
	return true, err
}

// as returns the call as one of the account.
func (c *call) as(account int64) *call {
	visit := *c.Visit
	visit.User, _ = c.State.Accounts.Get(account)
	return &call{Visit: &visit, server: c.server, header: c.header}
}

// gqlEntry returns the place of a pull request in the merge queue, nil for none.
func (c *call) gqlEntry(i store.Issue) object {
	q := i.Pull.Queued
	if q == nil || !i.Open() || q.Head != i.Pull.HeadSHA {
		return nil
	}
	state := "QUEUED"
	if q.Group != "" {
		state = "AWAITING_CHECKS"
	}
	position := 1 + slices.IndexFunc(waiting(c.Repo, i.Pull.Base), func(w store.Issue) bool { return w.Number == i.Number })
	return object{
		"__typename": "MergeQueueEntry", "id": nodeID("MergeQueueEntry", i.ID), "state": state, "position": position,
		"enqueuedAt": q.At.UTC().Format(time.RFC3339), "enqueuer": c.gqlActor(q.By),
	}
}

// gqlTimeline returns the last change of the base and the last end of a place in the merge
// queue, of the kinds that the arguments name.
func (c *call) gqlTimeline(i store.Issue) field {
	return func(in map[string]any) (any, error) {
		asked, _ := in["itemTypes"].([]any)
		nodes := []object{}
		if e := i.Pull.Rebased; e != nil && slices.Contains(asked, any("BASE_REF_CHANGED_EVENT")) {
			nodes = append(nodes, object{
				"__typename": "BaseRefChangedEvent", "id": nodeID("BaseRefChangedEvent", i.ID), "createdAt": e.At.UTC().Format(time.RFC3339),
				"actor": c.gqlActor(e.By), "previousRefName": i.Pull.Before, "currentRefName": i.Pull.Base,
			})
		}
		if u := i.Pull.Unqueued; u != nil && slices.Contains(asked, any("REMOVED_FROM_MERGE_QUEUE_EVENT")) {
			nodes = append(nodes, object{
				"__typename": "RemovedFromMergeQueueEvent", "id": nodeID("RemovedFromMergeQueueEvent", i.ID), "reason": u.Reason,
				"createdAt": u.At.UTC().Format(time.RFC3339), "actor": c.gqlActor(u.By),
			})
		}
		return object{"nodes": nodes, "totalCount": len(nodes), "pageInfo": object{"hasNextPage": false, "endCursor": nil}}, nil
	}
}
