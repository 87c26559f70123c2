package rest

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// mutations is the root object of mutations.
func (c *call) mutations() object {
	return object{
		"markPullRequestReadyForReview": mutation(func(in map[string]any) (object, error) {
			id, _ := in["pullRequestId"].(string)
			i, err := c.pullNode(id)
			if err != nil {
				return nil, err
			}
			ready, err := c.ready(i)
			return object{"pullRequest": c.gqlPull(ready)}, err
		}),
		"enqueuePullRequest":    mutation(c.enqueue),
		"dequeuePullRequest":    mutation(c.dequeue),
		"resolveReviewThread":   mutation(func(in map[string]any) (object, error) { return c.resolve(in, true) }),
		"unresolveReviewThread": mutation(func(in map[string]any) (object, error) { return c.resolve(in, false) }),
	}
}

// mutation returns the field of a mutation.
func mutation(do func(in map[string]any) (object, error)) field {
	return func(arguments map[string]any) (any, error) {
		in, _ := arguments["input"].(map[string]any)
		out, err := do(in)
		if err != nil {
			return nil, err
		}
		out["clientMutationId"] = in["clientMutationId"]
		return out, nil
	}
}

// node finds the pull request by its own id or the id of a part of it, and enters its
// repository.
func (c *call) node(kind, id string, pull func(store.Repo, int64) (number int64, ok bool)) (store.Issue, error) {
	decoded, _ := base64.RawURLEncoding.DecodeString(id)
	text, _ := strings.CutPrefix(string(decoded), kind+":")
	row, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		for _, r := range c.State.Repos() {
			if number, ok := pull(r, row); ok && c.Forge.Access.Reach(c.Caller, r.FullName()) >= store.Read {
				c.Repo, c.Level = r, c.Forge.Access.Reach(c.Caller, r.FullName())
				i, _ := r.Issues.Get(number)
				return i, nil
			}
		}
	}
	return store.Issue{}, &refusalGQL{"NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id)}
}

func (c *call) mayChange(i store.Issue, what string) error {
	if c.Level < store.Write && c.User.ID != i.Author {
		return &refusalGQL{"FORBIDDEN", fmt.Sprintf("%s does not have the correct permissions to execute `%s`", c.User.Login, what)}
	}
	return nil
}

// ready ends a draft, and requests the review of the code owners. It holds the refs, so
// that a push in between is not one of a draft.
func (c *call) ready(i store.Issue) (store.Issue, error) {
	if err := c.mayChange(i, "MarkPullRequestReadyForReview"); err != nil {
		return i, err
	}
	refs := c.Forge.LockRefs(c.Repo)
	defer refs.Unlock()
	c.Refresh()
	i, _ = c.Repo.Issues.Get(i.Number)
	owners, err := c.Forge.CodeOwners(c.Context(), c.Repo, i.Pull)
	if err != nil {
		return i, err
	}
	err = c.Change(func(t *store.Tx, r store.Repo) error {
		i, _ = r.Issues.Get(i.Number)
		switch {
		case i.State != "open":
			return &refusalGQL{"UNPROCESSABLE", "Pull request is closed"}
		case !i.Pull.Draft:
			return nil
		}
		p := *i.Pull
		p.Draft = false
		i.Pull = &p
		i = c.Forge.AskOwners(r, i, owners)
		t.Touch(c.Name(), i)
		return nil
	})
	return i, err
}

// resolve resolves a conversation or opens it again.
func (c *call) resolve(in map[string]any, resolved bool) (object, error) {
	id, _ := in["threadId"].(string)
	var first store.LineComment
	i, err := c.node("PullRequestReviewThread", id, func(r store.Repo, row int64) (int64, bool) {
		l, ok := r.Lines.Get(row)
		first = l
		return l.Pull, ok && l.ReplyTo == 0 && !l.Deleted
	})
	if err == nil {
		err = c.mayChange(i, "ResolveReviewThread")
	}
	if err != nil {
		return nil, err
	}
	err = c.Change(func(t *store.Tx, r store.Repo) error {
		first, _ = r.Lines.Get(first.ID)
		first.Resolved = resolved
		t.Put(store.Entry{Repo: c.Name(), Line: &first})
		return nil
	})
	if err != nil {
		return nil, err
	}
	thread, err := c.gqlThread(i, first)
	return object{"thread": thread}, err
}
