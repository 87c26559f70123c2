package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// The maximum lengths of a title and a body in characters.
const (
	maxTitle = 256
	maxText  = 65536
)

func (v view) issue(r store.Repo, i store.Issue) object {
	api := fmt.Sprintf("%s/issues/%d", v.RepoAPI(r), i.Number)
	o := object{
		"id": i.ID, "node_id": nodeID("Issue", i.ID), "number": i.Number, "title": i.Title, "body": optional(i.Body),
		"state": i.State, "state_reason": optional(i.Reason), "locked": i.Locked, "active_lock_reason": nil,
		"user": v.user(i.Author), "author_association": v.association(r, i.Author),
		"labels": v.labels(r, i.Labels), "assignee": nil, "assignees": []object{}, "milestone": nil,
		"comments": len(r.CommentsOn(i.Number)), "created_at": i.Created, "updated_at": i.Updated,
		"closed_at": moment(i.Closed), "closed_by": v.user(i.ClosedBy), "performed_via_github_app": nil,
		"url": api, "labels_url": api + "/labels{/name}", "comments_url": api + "/comments", "events_url": api + "/events",
		"timeline_url": api + "/timeline", "repository_url": v.RepoAPI(r), "html_url": v.IssueURL(r, i),
	}
	if p := i.Pull; p != nil {
		o["node_id"], o["draft"] = nodeID("PullRequest", i.ID), p.Draft
		o["pull_request"] = object{
			"url": v.PullAPI(r, i), "html_url": v.IssueURL(r, i), "merged_at": moment(p.Merged),
			"diff_url": v.IssueURL(r, i) + ".diff", "patch_url": v.IssueURL(r, i) + ".patch",
		}
	}
	return o
}

func getIssue(c *call) (int, any, error) {
	i, err := c.Issue(c.Repo)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().issue(c.Repo, i), nil
}

// listIssues lists issues and pull requests, as GitHub does.
func listIssues(c *call) (int, any, error) {
	q := c.URL.Query()
	since, err := sinceOf(c)
	if err != nil {
		return 0, nil, err
	}
	wanted := strings.FieldsFunc(q.Get("labels"), func(r rune) bool { return r == ',' })
	rows := c.Repo.Issues.Where(func(i store.Issue) bool {
		author, _ := c.State.Accounts.Get(i.Author)
		return i.Gone == nil && inState(i.State, q.Get("state")) && !i.Updated.Before(since) &&
			(q.Get("creator") == "" || strings.EqualFold(author.Login, q.Get("creator"))) &&
			!slices.ContainsFunc(wanted, func(l string) bool { return !hasLabel(i, l) })
	})
	if late := c.server.config.Late; late != nil {
		rows = slices.DeleteFunc(rows, func(i store.Issue) bool { return late("issues", i.Number) })
	}
	c.sortIssues(rows)
	v := c.view()
	return http.StatusOK, each(page(c, rows), func(i store.Issue) object { return v.issue(c.Repo, i) }), nil
}

func hasLabel(i store.Issue, label string) bool {
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
		return since, &failure{status: http.StatusUnprocessableEntity,
			message: fmt.Sprintf("since %q is not a time such as 2006-01-02T15:04:05Z", s)}
	}
	return since, nil
}

// sortIssues orders the rows by the query's sort and direction, newest first by default.
func (c *call) sortIssues(rows []store.Issue) {
	q := c.URL.Query()
	slices.SortStableFunc(rows, func(a, b store.Issue) int {
		by := 0
		switch q.Get("sort") {
		case "updated":
			by = a.Updated.Compare(b.Updated)
		case "comments":
			by = cmp.Compare(len(c.Repo.CommentsOn(a.Number)), len(c.Repo.CommentsOn(b.Number)))
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
	if err := c.decodeDone(&in, undone{resource: "Issue", keys: undoneOfIssue}); err != nil {
		return 0, nil, err
	}
	if strings.TrimSpace(in.Title) == "" {
		return 0, nil, invalid("Issue", "title", "missing_field")
	}
	if err := cmp.Or(limit("Issue", "title", in.Title, maxTitle), limit("Issue", "body", in.Body, maxText)); err != nil {
		return 0, nil, err
	}
	if c.Level < store.Triage {
		in.Labels = nil // silently, as GitHub does
	}
	var made store.Issue
	err := c.Change(func(t *store.Tx, r store.Repo) error {
		made = c.newIssue(t, r, in.Title, in.Body)
		made = made.Label(addNames(t, r, nil, in.Labels), c.User.ID, t.Now)
		t.Put(store.Entry{Repo: c.Name(), Issue: &made})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	o := c.view().issue(c.Repo, made)
	c.header.Set("Location", fmt.Sprint(o["url"]))
	return http.StatusCreated, o, nil
}

// newIssue returns the next issue of the repository. It puts nothing.
func (c *call) newIssue(t *store.Tx, r store.Repo, title, body string) store.Issue {
	return store.Issue{
		ID: t.ID(), Number: int64(len(r.Issues)) + 1, Title: title, Body: body, State: "open",
		Author: c.User.ID, Created: t.Now, Updated: t.Now,
	}
}
