package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

func (v view) comment(r store.Repo, m store.Comment) object {
	i, _ := r.Issues.Get(m.Issue)
	return object{
		"id": m.ID, "node_id": nodeID("IssueComment", m.ID), "body": m.Body, "user": v.user(m.Author),
		"author_association": v.association(r, m.Author), "created_at": m.Created, "updated_at": m.Updated,
		"performed_via_github_app": nil, "url": fmt.Sprintf("%s/issues/comments/%d", v.RepoAPI(r), m.ID),
		"issue_url": fmt.Sprintf("%s/issues/%d", v.RepoAPI(r), m.Issue),
		"html_url":  fmt.Sprintf("%s#issuecomment-%d", v.IssueURL(r, i), m.ID),
		"reactions": v.reactions(r, m),
	}
}

func (c *call) comments(rows []store.Comment, since time.Time) []object {
	v := c.view()
	rows = slices.DeleteFunc(rows, func(m store.Comment) bool { return m.Updated.Before(since) })
	if late := c.server.config.Late; late != nil {
		rows = slices.DeleteFunc(rows, func(m store.Comment) bool { return late("comments", m.Issue) })
	}
	rows = shown(c, rows, func(m store.Comment) (id, by int64) { return m.ID, m.Author })
	return each(page(c, rows), func(m store.Comment) object { return v.comment(c.Repo, m) })
}

func listComments(c *call) (int, any, error) {
	i, err := c.Issue(c.Repo)
	if err != nil {
		return 0, nil, err
	}
	since, err := sinceOf(c)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.comments(c.Repo.CommentsOn(i.Number), since), nil
}

func listAllComments(c *call) (int, any, error) {
	since, err := sinceOf(c)
	if err != nil {
		return 0, nil, err
	}
	q := c.URL.Query()
	rows := c.Repo.Comments.Where(func(m store.Comment) bool {
		i, _ := c.Repo.Issues.Get(m.Issue)
		return !m.Deleted && i.Gone == nil
	})
	if q.Get("sort") == "updated" {
		slices.SortStableFunc(rows, func(a, b store.Comment) int { return a.Updated.Compare(b.Updated) })
	}
	if q.Get("sort") != "" && cmp.Or(q.Get("direction"), "desc") == "desc" {
		slices.Reverse(rows)
	}
	return http.StatusOK, c.comments(rows, since), nil
}

func (c *call) commentOf(r store.Repo) (store.Comment, error) {
	m, ok := r.Comments.Get(c.PathID("id"))
	if i, _ := r.Issues.Get(m.Issue); !ok || m.Deleted || i.Gone != nil {
		return store.Comment{}, host.ErrNotFound
	}
	return m, nil
}

func getComment(c *call) (int, any, error) {
	m, err := c.commentOf(c.Repo)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().comment(c.Repo, m), nil
}

// commentBody decodes the only field of a comment.
func (c *call) commentBody() (string, error) {
	var in struct{ Body string }
	if err := c.decode(&in); err != nil {
		return "", err
	}
	if strings.TrimSpace(in.Body) == "" {
		return "", invalid("IssueComment", "body", "missing_field")
	}
	return in.Body, limit("IssueComment", "body", in.Body, maxText)
}

func createComment(c *call) (int, any, error) {
	body, err := c.commentBody()
	if err != nil {
		return 0, nil, err
	}
	var made store.Comment
	err = c.Change(func(t *store.Tx, r store.Repo) error {
		i, err := c.Issue(r)
		if err != nil {
			return err
		}
		if i.Locked && c.Level < store.Write {
			return &failure{status: http.StatusForbidden, message: "Unable to create comment because issue is locked."}
		}
		made = store.Comment{ID: t.ID(), Issue: i.Number, Body: body, Author: c.User.ID, Created: t.Now, Updated: t.Now}
		t.Put(store.Entry{Repo: c.Name(), Comment: &made})
		t.Touch(c.Name(), i)
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	o := c.view().comment(c.Repo, made)
	c.header.Set("Location", fmt.Sprint(o["url"]))
	return http.StatusCreated, o, nil
}

func editComment(c *call) (int, any, error) {
	body, err := c.commentBody()
	if err != nil {
		return 0, nil, err
	}
	m, err := c.changeComment(func(m *store.Comment) { m.Body = body })
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().comment(c.Repo, m), nil
}

func deleteComment(c *call) (int, any, error) {
	_, err := c.changeComment(func(m *store.Comment) { m.Deleted = true })
	return http.StatusNoContent, nil, err
}

// changeComment changes the comment that the path names. Its author may, and users who can write.
func (c *call) changeComment(how func(*store.Comment)) (m store.Comment, err error) {
	err = c.Change(func(t *store.Tx, r store.Repo) error {
		if m, err = c.commentOf(r); err != nil {
			return err
		}
		if m.Author != c.User.ID && c.Level < store.Write {
			return host.ErrForbidden
		}
		was := m.Body
		how(&m)
		if m.Updated = t.Now; m.Body != was {
			m.Edit = &store.Edit{By: c.User.ID, At: t.Now}
		}
		t.Put(store.Entry{Repo: c.Name(), Comment: &m})
		i, _ := r.Issues.Get(m.Issue)
		t.Touch(c.Name(), i)
		return nil
	})
	return m, err
}
