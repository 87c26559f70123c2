package local

import (
	"cmp"
	"net/http"
	"strings"
)

// draftLine is what a client says about a comment on a line.
type draftLine struct {
	Body, Path string
	Line       int
	Commit     string `json:"commit_id"`
	ReplyTo    int64  `json:"in_reply_to"`
}

// place finds the line in the change.
func (c *call) place(i issue, in draftLine) (lineComment, error) {
	l := lineComment{Pull: i.Number, Body: in.Body, Author: c.user.ID, Path: in.Path, Line: in.Line, Commit: cmp.Or(in.Commit, i.Pull.HeadSHA)}
	if strings.TrimSpace(in.Body) == "" {
		return l, invalid("PullRequestReviewComment", "body", "missing_field")
	}
	if err := limit("PullRequestReviewComment", "body", in.Body, maxText); err != nil {
		return l, err
	}
	if _, err := c.f.commit(c.Context(), c.name(), l.Commit); err != nil {
		return l, invalid("PullRequestReviewComment", "commit_id", "invalid")
	}
	about, err := c.f.comparison(c.Context(), c.name(), i.Pull.BaseSHA, l.Commit)
	if err != nil {
		return l, err
	}
	files, err := c.f.files(c.Context(), c.name(), cmp.Or(about.mergeBase, emptyTree), l.Commit)
	if err != nil {
		return l, err
	}
	for _, d := range files {
		if d.path == l.Path {
			if l.Hunk = around(d.patch, l.Line); l.Hunk != "" {
				return l, nil
			}
			return l, refused("PullRequestReviewComment", "pull_request_review_thread.line must be part of the diff")
		}
	}
	return l, refused("PullRequestReviewComment", "pull_request_review_thread.path is invalid")
}

// put gives the comment its id and its review.
func (l lineComment) put(t *tx, repo string, review int64) lineComment {
	l.ID, l.Review, l.Created, l.Updated = t.id(), review, t.now, t.now
	t.put(entry{Repo: repo, Line: &l})
	return l
}

func createLine(c *call) (int, any, error) {
	var in draftLine
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if in.ReplyTo != 0 {
		return c.reply(in.ReplyTo, in.Body)
	}
	i, err := c.pull()
	if err != nil {
		return 0, nil, err
	}
	l, err := c.place(i, in)
	if err != nil {
		return 0, nil, err
	}
	return c.sayOnLine(l)
}

func replyToLine(c *call) (int, any, error) {
	var in draftLine
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	return c.reply(c.id("id"), in.Body)
}

// reply goes on with the thread of the comment.
func (c *call) reply(to int64, body string) (int, any, error) {
	if _, err := c.pull(); err != nil {
		return 0, nil, err
	}
	first, err := c.foundLine(c.repo, to)
	if err != nil || first.Pull != c.id("number") {
		return 0, nil, errNotFound
	}
	if strings.TrimSpace(body) == "" {
		return 0, nil, invalid("PullRequestReviewComment", "body", "missing_field")
	}
	l := first
	l.Body, l.Author, l.ReplyTo, l.Resolved = body, c.user.ID, cmp.Or(first.ReplyTo, first.ID), false
	return c.sayOnLine(l)
}

// sayOnLine makes the comment, and the review of its own that GitHub gives it.
func (c *call) sayOnLine(l lineComment) (int, any, error) {
	err := c.change(func(t *tx, r repo) error {
		w := review{ID: t.id(), Pull: l.Pull, State: "COMMENTED", Commit: l.Commit, Author: l.Author, Submitted: t.now}
		t.put(entry{Repo: c.name(), Review: &w})
		l = l.put(t, c.name(), w.ID)
		i, err := c.found(r)
		t.touch(c.name(), i)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	o, err := c.lineComment(l)
	return http.StatusCreated, o, err
}

func editLine(c *call) (int, any, error) {
	body, err := c.commentBody()
	if err != nil {
		return 0, nil, err
	}
	l, err := c.changeLine(func(l *lineComment) { l.Body = body })
	if err != nil {
		return 0, nil, err
	}
	o, err := c.lineComment(l)
	return http.StatusOK, o, err
}

func deleteLine(c *call) (int, any, error) {
	_, err := c.changeLine(func(l *lineComment) { l.Deleted = true })
	return http.StatusNoContent, nil, err
}

// changeLine changes the path's comment: its author may, and who can write.
func (c *call) changeLine(how func(*lineComment)) (l lineComment, err error) {
	err = c.change(func(t *tx, r repo) error {
		if l, err = c.foundLine(r, c.id("id")); err != nil {
			return err
		}
		if l.Author != c.user.ID && c.level < write {
			return errForbidden
		}
		how(&l)
		l.Updated = t.now
		t.put(entry{Repo: c.name(), Line: &l})
		i, _ := r.issues.get(l.Pull)
		t.touch(c.name(), i)
		return nil
	})
	return l, err
}
