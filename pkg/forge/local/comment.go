package local

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

func (v view) comment(r repo, m comment) object {
	i, _ := r.issues.get(m.Issue)
	return object{
		"id": m.ID, "node_id": nodeID("IssueComment", m.ID), "body": m.Body, "user": v.user(m.Author),
		"author_association": v.association(r, m.Author), "created_at": m.Created, "updated_at": m.Updated,
		"performed_via_github_app": nil, "url": fmt.Sprintf("%s/issues/comments/%d", v.repoAPI(r), m.ID),
		"issue_url": fmt.Sprintf("%s/issues/%d", v.repoAPI(r), m.Issue),
		"html_url":  fmt.Sprintf("%s#issuecomment-%d", v.issueURL(r, i), m.ID),
	}
}

func (c *call) comments(rows []comment, since time.Time) []object {
	v := c.view()
	rows = slices.DeleteFunc(rows, func(m comment) bool { return m.Updated.Before(since) })
	rows = shown(c, rows, func(m comment) (id, by int64) { return m.ID, m.Author })
	return each(page(c, rows), func(m comment) object { return v.comment(c.repo, m) })
}

func listComments(c *call) (int, any, error) {
	i, err := c.found(c.repo)
	if err != nil {
		return 0, nil, err
	}
	since, err := sinceOf(c)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.comments(c.repo.commentsOn(i.Number), since), nil
}

func listAllComments(c *call) (int, any, error) {
	since, err := sinceOf(c)
	if err != nil {
		return 0, nil, err
	}
	q := c.URL.Query()
	rows := c.repo.comments.where(func(m comment) bool { return !m.Deleted })
	if q.Get("sort") == "updated" {
		slices.SortStableFunc(rows, func(a, b comment) int { return a.Updated.Compare(b.Updated) })
	}
	if q.Get("sort") != "" && cmp.Or(q.Get("direction"), "desc") == "desc" {
		slices.Reverse(rows)
	}
	return http.StatusOK, c.comments(rows, since), nil
}

func (c *call) foundComment(r repo) (comment, error) {
	m, ok := r.comments.get(c.id("id"))
	if !ok || m.Deleted {
		return comment{}, errNotFound
	}
	return m, nil
}

func getComment(c *call) (int, any, error) {
	m, err := c.foundComment(c.repo)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().comment(c.repo, m), nil
}

// commentBody reads the one field a comment has.
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
	var made comment
	err = c.change(func(t *tx, r repo) error {
		i, err := c.found(r)
		if err != nil {
			return err
		}
		if i.Locked && c.level < write {
			return &failure{status: http.StatusForbidden, message: "Unable to create comment because issue is locked."}
		}
		made = comment{ID: t.id(), Issue: i.Number, Body: body, Author: c.user.ID, Created: t.now, Updated: t.now}
		t.put(entry{Repo: c.name(), Comment: &made})
		t.touch(c.name(), i)
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	o := c.view().comment(c.repo, made)
	c.header.Set("Location", fmt.Sprint(o["url"]))
	return http.StatusCreated, o, nil
}

func editComment(c *call) (int, any, error) {
	body, err := c.commentBody()
	if err != nil {
		return 0, nil, err
	}
	m, err := c.changeComment(func(m *comment) { m.Body = body })
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().comment(c.repo, m), nil
}

func deleteComment(c *call) (int, any, error) {
	_, err := c.changeComment(func(m *comment) { m.Deleted = true })
	return http.StatusNoContent, nil, err
}

// changeComment changes the path's comment: its author may, and who can write.
func (c *call) changeComment(how func(*comment)) (m comment, err error) {
	err = c.change(func(t *tx, r repo) error {
		if m, err = c.foundComment(r); err != nil {
			return err
		}
		if m.Author != c.user.ID && c.level < write {
			return errForbidden
		}
		how(&m)
		m.Updated = t.now
		t.put(entry{Repo: c.name(), Comment: &m})
		i, _ := r.issues.get(m.Issue)
		t.touch(c.name(), i)
		return nil
	})
	return m, err
}
