package rest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// queries is the root object of queries.
func (c *call) queries() object {
	return object{
		"viewer": c.gqlViewer(),
		"node":   field(func(in map[string]any) (any, error) { return c.gqlNode(fmt.Sprint(in["id"])) }),
		"repository": field(func(in map[string]any) (any, error) {
			name := fmt.Sprintf("%s/%s", in["owner"], in["name"])
			r, ok := c.State.Repo(name)
			if !ok || c.Forge.Access.Reach(c.Caller, r.FullName()) < store.Read {
				return nil, &refusalGQL{"NOT_FOUND", fmt.Sprintf("Could not resolve to a Repository with the name '%s'.", name)}
			}
			c.Repo = r
			return c.gqlRepo(), nil
		}),
		"repositoryOwner": field(func(in map[string]any) (any, error) {
			a, ok := c.State.Account(fmt.Sprint(in["login"]))
			if !ok || a.Type == "Bot" {
				return nil, nil
			}
			return c.gqlOwner(a), nil
		}),
	}
}

// gqlNode returns the issue or the comment of a node id: of others nobody here asks.
func (c *call) gqlNode(id string) (object, error) {
	decoded, _ := base64.RawURLEncoding.DecodeString(id)
	kind, text, _ := strings.Cut(string(decoded), ":")
	row, err := strconv.ParseInt(text, 10, 64)
	for _, r := range c.State.Repos() {
		if err != nil || c.Forge.Access.Reach(c.Caller, r.FullName()) < store.Read {
			continue
		}
		for _, i := range r.Issues.Where(func(i store.Issue) bool { return kind == "Issue" && i.ID == row && i.Gone == nil && i.Pull == nil }) {
			c.Repo = r
			return c.gqlIssue(i), nil
		}
		if m, ok := r.Comments.Get(row); ok && kind == "IssueComment" && !m.Deleted {
			editor, at := c.gqlEdit(m.Edit)
			return object{"__typename": "IssueComment", "id": id, "editor": editor, "lastEditedAt": at}, nil
		}
	}
	return nil, &refusalGQL{"NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id)}
}

// gqlEdit returns who made an edit, and when; nulls if nobody did.
func (c *call) gqlEdit(e *store.Edit) (editor object, at any) {
	if e == nil {
		return nil, nil
	}
	return c.gqlActor(e.By), e.At.UTC().Format(time.RFC3339)
}

// gqlViewer returns the account of the token. GitHub's schema makes it a User, also that of
// a bot, with the login that it has in REST.
func (c *call) gqlViewer() object {
	o := c.gqlActor(c.User.ID)
	o["__typename"], o["login"] = "User", c.User.Login
	return o
}

func (c *call) gqlActor(id int64) object {
	a, ok := c.State.Accounts.Get(id)
	if !ok {
		return nil
	}
	return object{
		"__typename": a.Type, "id": nodeID("User", a.ID), "databaseId": a.ID,
		"login": strings.TrimSuffix(a.Login, "[bot]"), "url": string(c.Links()) + "/" + a.Login,
	}
}

// gqlOwner returns a person or an organisation, with the repositories that the caller may
// read.
func (c *call) gqlOwner(a store.Account) object {
	return object{
		"__typename": a.Type, "id": nodeID(a.Type, a.ID), "login": a.Login,
		"repositories": field(func(in map[string]any) (any, error) {
			rows := slices.DeleteFunc(c.State.Repos(), func(r store.Repo) bool {
				return !strings.EqualFold(r.Owner, a.Login) || c.Forge.Access.Reach(c.Caller, r.FullName()) < store.Read
			})
			slices.SortFunc(rows, func(a, b store.Repo) int { return cmp.Compare(a.ID, b.ID) })
			return connection(in, rows, func(r store.Repo) (object, error) {
				c.Repo = r
				return c.gqlRepo(), nil
			})
		}),
	}
}

func (c *call) gqlRepo() object {
	r := c.Repo
	permission := any(nil)
	if level := c.Forge.Access.Reach(c.Caller, r.FullName()); level >= store.Read {
		permission = strings.ToUpper(level.String())
	}
	return object{
		"databaseId": r.ID, "isArchived": r.Archived, "isDisabled": false, "viewerPermission": permission,
		"__typename": "Repository", "id": nodeID("Repository", r.ID), "nameWithOwner": r.FullName(),
		"mergeCommitAllowed": r.Takes("merge"), "squashMergeAllowed": r.Takes("squash"), "rebaseMergeAllowed": r.Takes("rebase"),
		"issue": field(func(in map[string]any) (any, error) {
			i, ok := r.Issues.Get(whole(in["number"]))
			if !ok || i.Pull != nil || i.Gone != nil {
				return nil, &refusalGQL{"NOT_FOUND", fmt.Sprintf("Could not resolve to an Issue with the number of %v.", in["number"])}
			}
			return c.gqlIssue(i), nil
		}),
		"issues": field(func(in map[string]any) (any, error) {
			rows := r.Issues.Where(func(i store.Issue) bool { return i.Pull == nil && i.Gone == nil })
			return connection(in, byUpdate(in, rows), func(i store.Issue) (object, error) { return c.gqlIssue(i), nil })
		}),
		"pullRequests": field(func(in map[string]any) (any, error) {
			rows := r.Issues.Where(func(i store.Issue) bool { return i.Pull != nil })
			return connection(in, byUpdate(in, rows), func(i store.Issue) (object, error) { return c.gqlPull(i), nil })
		}),
		"pullRequest": field(func(in map[string]any) (any, error) {
			if err := c.Forge.Follow(c.Context(), r.FullName(), 0); err != nil {
				return nil, err
			}
			c.Refresh()
			if err := c.advanceQueues(); err != nil {
				return nil, err
			}
			i, ok := c.Repo.Issues.Get(whole(in["number"]))
			if !ok || i.Pull == nil {
				return nil, &refusalGQL{"NOT_FOUND", fmt.Sprintf("Could not resolve to a PullRequest with the number of %v.", in["number"])}
			}
			return c.gqlPull(i), nil
		}),
	}
}

// byUpdate orders the rows by their newest change if orderBy asks for it.
func byUpdate(in map[string]any, rows []store.Issue) []store.Issue {
	order, ok := in["orderBy"].(map[string]any)
	if !ok {
		return rows
	}
	slices.SortStableFunc(rows, func(a, b store.Issue) int {
		if order["direction"] == "DESC" {
			return b.Updated.Compare(a.Updated)
		}
		return a.Updated.Compare(b.Updated)
	})
	return rows
}

func (c *call) gqlPull(i store.Issue) object {
	r := c.Repo
	state := strings.ToUpper(i.State)
	if i.Pull.Merged != nil {
		state = "MERGED"
	}
	return object{
		"__typename": "PullRequest", "id": nodeID("PullRequest", i.ID), "number": i.Number, "title": i.Title, "state": state, "updatedAt": i.Updated.UTC().Format(time.RFC3339),
		"isDraft": i.Pull.Draft, "url": c.view().IssueURL(c.Repo, i), "author": c.gqlActor(i.Author),
		"headRefOid": i.Pull.HeadSHA, "isInMergeQueue": c.gqlEntry(i) != nil, "mergeQueueEntry": c.gqlEntry(i), "timelineItems": c.gqlTimeline(i),
		"reviewDecision": field(func(map[string]any) (any, error) {
			judge, err := c.Forge.Judge(c.Context(), r, i)
			return optional(judge.Decision()), err
		}),
		"repository": field(func(map[string]any) (any, error) { return c.gqlRepo(), nil }),
		"reviewThreads": field(func(in map[string]any) (any, error) {
			threads := slices.DeleteFunc(c.Repo.LinesOf(i.Number), func(l store.LineComment) bool { return l.ReplyTo != 0 })
			return connection(in, threads, func(l store.LineComment) (object, error) { return c.gqlThread(i, l) })
		}),
	}
}

func (c *call) gqlIssue(i store.Issue) object {
	editor, edited := c.gqlEdit(i.Edit)
	return object{
		"editor": editor, "lastEditedAt": edited,
		"__typename": "Issue", "id": nodeID("Issue", i.ID), "number": i.Number, "title": i.Title, "updatedAt": i.Updated.UTC().Format(time.RFC3339),
		"timelineItems": field(func(in map[string]any) (any, error) {
			return connection(in, c.Repo.Mentioning(i.Number), func(p store.Issue) (object, error) {
				return object{
					"__typename": "CrossReferencedEvent", "id": nodeID("CrossReferencedEvent", p.ID), "source": c.gqlPull(p),
					"willCloseTarget": slices.Contains(c.Repo.ClosedBy(p), i.Number) && p.State == "open",
				}, nil
			})
		}),
		"closedByPullRequestsReferences": field(func(in map[string]any) (any, error) {
			rows := c.Repo.Issues.Where(func(p store.Issue) bool {
				return p.Pull != nil && slices.Contains(c.Repo.ClosedBy(p), i.Number) && (in["includeClosedPrs"] == true || p.State == "open")
			})
			return connection(in, rows, func(p store.Issue) (object, error) { return c.gqlPull(p), nil })
		}),
	}
}

// gqlThread returns the conversation that starts with the comment.
func (c *call) gqlThread(i store.Issue, first store.LineComment) (object, error) {
	now, err := c.Git().MoveLine(c.Context(), first.Commit, i.Pull.HeadSHA, first.Path, first.Line)
	if err != nil {
		return nil, err
	}
	line := any(nil)
	if now > 0 {
		line = now
	}
	return object{
		"__typename": "PullRequestReviewThread", "id": nodeID("PullRequestReviewThread", first.ID),
		"isResolved": first.Resolved, "isOutdated": now == 0, "path": first.Path, "line": line,
		"comments": field(func(in map[string]any) (any, error) {
			rows := c.Repo.Lines.Where(func(l store.LineComment) bool { return !l.Deleted && (l.ID == first.ID || l.ReplyTo == first.ID) })
			return connection(in, rows, func(l store.LineComment) (object, error) {
				return object{
					"__typename": "PullRequestReviewComment", "id": nodeID("PullRequestReviewComment", l.ID), "body": l.Body,
					"author": c.gqlActor(l.Author), "fullDatabaseId": strconv.FormatInt(l.ID, 10),
				}, nil
			})
		}),
	}, nil
}

// connection returns the page of the rows that the arguments ask for.
func connection[T any](in map[string]any, rows []T, show func(T) (object, error)) (any, error) {
	first := int(whole(in["first"]))
	if first < 1 || first > 100 {
		return nil, &refusalGQL{"MISSING_PAGINATION_BOUNDARIES",
			"You must provide a `first` value between 1 and 100 to properly paginate the connection."}
	}
	from := 0
	if after, ok := in["after"].(string); ok {
		cursor, _ := base64.StdEncoding.DecodeString(after)
		n, err := strconv.Atoi(strings.TrimPrefix(string(cursor), "cursor:"))
		if err != nil || n < 0 {
			return nil, &refusalGQL{"INVALID_CURSOR_ARGUMENTS", fmt.Sprintf("`%s` does not appear to be a valid cursor.", after)}
		}
		from = min(n, len(rows))
	}
	to := min(from+first, len(rows))
	nodes := []object{}
	for _, row := range rows[from:to] {
		o, err := show(row)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, o)
	}
	end := any(nil)
	if to > from {
		end = base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "cursor:%d", to))
	}
	return object{"nodes": nodes, "totalCount": len(rows), "pageInfo": object{"hasNextPage": to < len(rows), "endCursor": end}}, nil
}

// whole returns a number from JSON or from the text of the query.
func whole(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case int:
		return int64(n)
	case float64:
		return int64(n)
	case json.Number:
		i, _ := n.Int64()
		return i
	}
	return 0
}
