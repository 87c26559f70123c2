package local

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The most characters a title and a body may have.
const (
	maxTitle = 256
	maxText  = 65536
)

func (v view) issue(r repo, i issue) object {
	api := fmt.Sprintf("%s/issues/%d", v.repoAPI(r), i.Number)
	o := object{
		"id": i.ID, "node_id": nodeID("Issue", i.ID), "number": i.Number, "title": i.Title, "body": optional(i.Body),
		"state": i.State, "state_reason": optional(i.Reason), "locked": i.Locked, "active_lock_reason": nil,
		"user": v.user(i.Author), "author_association": v.association(r, i.Author),
		"labels": v.labels(r, i.Labels), "assignee": nil, "assignees": []object{}, "milestone": nil,
		"comments": len(r.commentsOn(i.Number)), "created_at": i.Created, "updated_at": i.Updated,
		"closed_at": moment(i.Closed), "closed_by": v.user(i.ClosedBy), "performed_via_github_app": nil,
		"url": api, "labels_url": api + "/labels{/name}", "comments_url": api + "/comments", "events_url": api + "/events",
		"timeline_url": api + "/timeline", "repository_url": v.repoAPI(r), "html_url": v.issueURL(r, i),
	}
	if p := i.Pull; p != nil {
		o["node_id"], o["draft"] = nodeID("PullRequest", i.ID), p.Draft
		o["pull_request"] = object{
			"url": v.pullAPI(r, i), "html_url": v.issueURL(r, i), "merged_at": moment(p.Merged),
			"diff_url": v.issueURL(r, i) + ".diff", "patch_url": v.issueURL(r, i) + ".patch",
		}
	}
	return o
}

// issueURL is the page of the issue, or of the pull request it is.
func (v view) issueURL(r repo, i issue) string {
	kind := "issues"
	if i.Pull != nil {
		kind = "pull"
	}
	return fmt.Sprintf("%s/%s/%d", v.repoURL(r), kind, i.Number)
}

// found is the issue the path names.
func (c *call) found(r repo) (issue, error) {
	i, ok := r.issues.get(c.id("number"))
	if !ok {
		return issue{}, errNotFound
	}
	return i, nil
}

func getIssue(c *call) (int, any, error) {
	i, err := c.found(c.repo)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().issue(c.repo, i), nil
}

// listIssues lists pull requests too, as GitHub does.
func listIssues(c *call) (int, any, error) {
	q := c.URL.Query()
	since, err := sinceOf(c)
	if err != nil {
		return 0, nil, err
	}
	wanted := strings.FieldsFunc(q.Get("labels"), func(r rune) bool { return r == ',' })
	rows := c.repo.issues.where(func(i issue) bool {
		author, _ := c.state.accounts.get(i.Author)
		return inState(i.State, q.Get("state")) && !i.Updated.Before(since) &&
			(q.Get("creator") == "" || strings.EqualFold(author.Login, q.Get("creator"))) &&
			!slices.ContainsFunc(wanted, func(l string) bool { return !i.has(l) })
	})
	c.sortIssues(rows)
	v := c.view()
	return http.StatusOK, each(page(c, rows), func(i issue) object { return v.issue(c.repo, i) }), nil
}

func (i issue) has(label string) bool {
	return slices.ContainsFunc(i.Labels, func(l string) bool { return strings.EqualFold(l, label) })
}

func inState(state, wanted string) bool {
	return wanted == "all" || state == cmp.Or(wanted, "open")
}

func sinceOf(c *call) (time.Time, error) {
	s := c.URL.Query().Get("since")
	if s == "" {
		return time.Time{}, nil
	}
	since, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return since, &failure{status: http.StatusUnprocessableEntity, message: fmt.Sprintf("since %q is not a time such as 2006-01-02T15:04:05Z", s)}
	}
	return since, nil
}

// sortIssues orders by the query's sort and direction; newest first is the default.
func (c *call) sortIssues(rows []issue) {
	q := c.URL.Query()
	slices.SortStableFunc(rows, func(a, b issue) int {
		by := 0
		switch q.Get("sort") {
		case "updated":
			by = a.Updated.Compare(b.Updated)
		case "comments":
			by = cmp.Compare(len(c.repo.commentsOn(a.Number)), len(c.repo.commentsOn(b.Number)))
		}
		return cmp.Or(by, cmp.Compare(a.Number, b.Number))
	})
	if q.Get("direction") != "asc" {
		slices.Reverse(rows)
	}
}

func createIssue(c *call) (int, any, error) {
	var in struct {
		Title  string
		Body   string
		Labels []string
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if strings.TrimSpace(in.Title) == "" {
		return 0, nil, invalid("Issue", "title", "missing_field")
	}
	if err := cmp.Or(limit("Issue", "title", in.Title, maxTitle), limit("Issue", "body", in.Body, maxText)); err != nil {
		return 0, nil, err
	}
	if c.level < triage {
		in.Labels = nil // silently, as GitHub does
	}
	var made issue
	err := c.change(func(t *tx, r repo) error {
		made = c.newIssue(t, r, in.Title, in.Body)
		made.Labels = t.label(r, nil, in.Labels)
		t.put(entry{Repo: c.name(), Issue: &made})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	o := c.view().issue(c.repo, made)
	c.header.Set("Location", fmt.Sprint(o["url"]))
	return http.StatusCreated, o, nil
}

// newIssue is the next issue of the repository, not yet put.
func (c *call) newIssue(t *tx, r repo, title, body string) issue {
	return issue{
		ID: t.id(), Number: int64(len(r.issues)) + 1, Title: title, Body: body, State: "open",
		Author: c.user.ID, Created: t.now, Updated: t.now,
	}
}
