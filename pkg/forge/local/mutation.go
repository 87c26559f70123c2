package local

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// mutations is the root of what can be done by GraphQL.
func (c *call) mutations() object {
	return object{
		"markPullRequestReadyForReview": mutation("pullRequestId", func(id string) (object, error) {
			i, err := c.node("PullRequest", id, func(r repo, row int64) (int64, bool) {
				found := r.issues.where(func(i issue) bool { return i.Pull != nil && i.ID == row })
				if len(found) == 0 {
					return 0, false
				}
				return found[0].Number, true
			})
			if err != nil {
				return nil, err
			}
			ready, err := c.ready(i)
			return object{"pullRequest": c.gqlPull(ready)}, err
		}),
		"resolveReviewThread":   mutation("threadId", func(id string) (object, error) { return c.resolve(id, true) }),
		"unresolveReviewThread": mutation("threadId", func(id string) (object, error) { return c.resolve(id, false) }),
	}
}

// mutation takes its one id out of the input.
func mutation(name string, do func(id string) (object, error)) field {
	return func(arguments map[string]any) (any, error) {
		in, _ := arguments["input"].(map[string]any)
		id, _ := in[name].(string)
		out, err := do(id)
		if err != nil {
			return nil, err
		}
		out["clientMutationId"] = in["clientMutationId"]
		return out, nil
	}
}

// node finds the pull request by the id of itself or of something on it, and
// makes its repository the call's.
func (c *call) node(kind, id string, pull func(repo, int64) (number int64, ok bool)) (issue, error) {
	decoded, _ := base64.RawURLEncoding.DecodeString(id)
	text, _ := strings.CutPrefix(string(decoded), kind+":")
	row, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		for _, r := range c.state.repos {
			if number, ok := pull(r, row); ok && c.f.permission(c.user.Login, r.fullName()) >= read {
				c.repo, c.level = r, c.f.permission(c.user.Login, r.fullName())
				i, _ := r.issues.get(number)
				return i, nil
			}
		}
	}
	return issue{}, &refusalGQL{"NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id)}
}

func (c *call) mayChange(i issue, what string) error {
	if c.level < write && c.user.ID != i.Author {
		return &refusalGQL{"FORBIDDEN", fmt.Sprintf("%s does not have the correct permissions to execute `%s`", c.user.Login, what)}
	}
	return nil
}

func (c *call) ready(i issue) (issue, error) {
	if err := c.mayChange(i, "MarkPullRequestReadyForReview"); err != nil {
		return i, err
	}
	err := c.change(func(t *tx, r repo) error {
		i, _ = r.issues.get(i.Number)
		switch {
		case i.State != "open":
			return &refusalGQL{"UNPROCESSABLE", "Pull request is closed"}
		case !i.Pull.Draft:
			return nil
		}
		p := *i.Pull
		p.Draft = false
		i.Pull = &p
		t.touch(c.name(), i)
		return nil
	})
	return i, err
}

// resolve ends a conversation, or opens it again.
func (c *call) resolve(id string, resolved bool) (object, error) {
	var first lineComment
	i, err := c.node("PullRequestReviewThread", id, func(r repo, row int64) (int64, bool) {
		l, ok := r.lines.get(row)
		first = l
		return l.Pull, ok && l.ReplyTo == 0 && !l.Deleted
	})
	if err == nil {
		err = c.mayChange(i, "ResolveReviewThread")
	}
	if err != nil {
		return nil, err
	}
	err = c.change(func(t *tx, r repo) error {
		first, _ = r.lines.get(first.ID)
		first.Resolved = resolved
		t.put(entry{Repo: c.name(), Line: &first})
		return nil
	})
	if err != nil {
		return nil, err
	}
	thread, err := c.gqlThread(i, first)
	return object{"thread": thread}, err
}
