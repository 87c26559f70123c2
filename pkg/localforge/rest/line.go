package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// lineComment returns the comment at the number that its line has now.
func (c *call) lineComment(l store.LineComment) (object, error) {
	v := c.view()
	i, _ := c.Repo.Issues.Get(l.Pull)
	now, err := c.Git().MoveLine(c.Context(), l.Commit, i.Pull.HeadSHA, l.Path, l.Line)
	if err != nil {
		return nil, err
	}
	api := fmt.Sprintf("%s/pulls/comments/%d", v.RepoAPI(c.Repo), l.ID)
	html := fmt.Sprintf("%s#discussion_r%d", v.IssueURL(c.Repo, i), l.ID)
	o := object{
		"id": l.ID, "node_id": nodeID("PullRequestReviewComment", l.ID), "url": api, "html_url": html, "body": l.Body,
		"pull_request_review_id": l.Review, "pull_request_url": v.PullAPI(c.Repo, i), "diff_hunk": l.Hunk, "path": l.Path,
		"commit_id": i.Pull.HeadSHA, "original_commit_id": l.Commit, "user": v.user(l.Author),
		"author_association": v.association(c.Repo, l.Author),
		"created_at":         l.Created, "updated_at": l.Updated, "original_line": l.Line, "side": "RIGHT", "subject_type": "line",
		"position": strings.Count(l.Hunk, "\n"), "original_position": strings.Count(l.Hunk, "\n"),
		"_links": object{"self": object{"href": api}, "html": object{"href": html}, "pull_request": object{"href": v.PullAPI(c.Repo, i)}},
	}
	if now > 0 {
		o["line"] = now
	} else {
		o["commit_id"] = l.Commit
	}
	if l.ReplyTo != 0 {
		o["in_reply_to_id"] = l.ReplyTo
	}
	return o, nil
}

func (c *call) lineComments(rows []store.LineComment) (int, any, error) {
	out := []object{}
	for _, l := range page(c, rows) {
		o, err := c.lineComment(l)
		if err != nil {
			return 0, nil, err
		}
		out = append(out, o)
	}
	return http.StatusOK, out, nil
}

func listLines(c *call) (int, any, error) {
	i, err := c.PullRequest()
	if err != nil {
		return 0, nil, err
	}
	since, err := sinceOf(c)
	if err != nil {
		return 0, nil, err
	}
	rows := slices.DeleteFunc(c.Repo.LinesOf(i.Number), func(l store.LineComment) bool { return l.Updated.Before(since) })
	rows = shown(c, rows, func(l store.LineComment) (id, by int64) { return l.ID, l.Author })
	q := c.URL.Query()
	if q.Get("sort") == "updated" {
		slices.SortStableFunc(rows, func(a, b store.LineComment) int { return a.Updated.Compare(b.Updated) })
	}
	if q.Get("sort") != "" && cmp.Or(q.Get("direction"), "desc") == "desc" {
		slices.Reverse(rows)
	}
	return c.lineComments(rows)
}

func listReviewLines(c *call) (int, any, error) {
	if _, err := c.PullRequest(); err != nil {
		return 0, nil, err
	}
	w, err := c.reviewOf(c.Repo)
	if err != nil {
		return 0, nil, err
	}
	return c.lineComments(c.Repo.Lines.Where(func(l store.LineComment) bool { return l.Review == w.ID && !l.Deleted }))
}

func (c *call) lineOf(r store.Repo, id int64) (store.LineComment, error) {
	l, ok := r.Lines.Get(id)
	if !ok || l.Deleted {
		return store.LineComment{}, host.ErrNotFound
	}
	return l, nil
}

func getLine(c *call) (int, any, error) {
	l, err := c.lineOf(c.Repo, c.PathID("id"))
	if err != nil {
		return 0, nil, err
	}
	o, err := c.lineComment(l)
	return http.StatusOK, o, err
}

// draftLine is a client's comment on a line.
type draftLine struct {
	Body, Path string
	Line       int
	Commit     string `json:"commit_id"`
	ReplyTo    int64  `json:"in_reply_to"`
}

// locateLine returns the comment with the hunk of its line. It puts nothing.
func (c *call) locateLine(i store.Issue, in draftLine) (store.LineComment, error) {
	l := store.LineComment{Pull: i.Number, Body: in.Body, Author: c.User.ID, Path: in.Path, Line: in.Line}
	l.Commit = cmp.Or(in.Commit, i.Pull.HeadSHA)
	if strings.TrimSpace(in.Body) == "" {
		return l, invalid("PullRequestReviewComment", "body", "missing_field")
	}
	if err := limit("PullRequestReviewComment", "body", in.Body, maxText); err != nil {
		return l, err
	}
	if _, err := c.Git().Resolve(c.Context(), l.Commit); err != nil {
		return l, invalid("PullRequestReviewComment", "commit_id", "invalid")
	}
	about, err := c.Git().Compare(c.Context(), i.Pull.BaseSHA, l.Commit)
	if err != nil {
		return l, err
	}
	files, err := c.Git().Files(c.Context(), cmp.Or(about.MergeBase, bare.EmptyTree), l.Commit)
	if err != nil {
		return l, err
	}
	for _, d := range files {
		if d.Path == l.Path {
			if l.Hunk = bare.HunkTo(d.Patch, l.Line); l.Hunk != "" {
				return l, nil
			}
			return l, refused("PullRequestReviewComment", "pull_request_review_thread.line must be part of the diff")
		}
	}
	return l, refused("PullRequestReviewComment", "pull_request_review_thread.path is invalid")
}

// putLine puts the comment with an id, as part of the review, and returns it.
func putLine(t *store.Tx, repo string, l store.LineComment, review int64) store.LineComment {
	l.ID, l.Review, l.Created, l.Updated = t.ID(), review, t.Now, t.Now
	t.Put(store.Entry{Repo: repo, Line: &l})
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
	i, err := c.PullRequest()
	if err != nil {
		return 0, nil, err
	}
	l, err := c.locateLine(i, in)
	if err != nil {
		return 0, nil, err
	}
	return c.createLineComment(l)
}

func replyToLine(c *call) (int, any, error) {
	var in draftLine
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	return c.reply(c.PathID("id"), in.Body)
}

// reply creates a comment in the thread of another one.
func (c *call) reply(to int64, body string) (int, any, error) {
	if _, err := c.PullRequest(); err != nil {
		return 0, nil, err
	}
	first, err := c.lineOf(c.Repo, to)
	if err != nil || first.Pull != c.PathID("number") {
		return 0, nil, host.ErrNotFound
	}
	if strings.TrimSpace(body) == "" {
		return 0, nil, invalid("PullRequestReviewComment", "body", "missing_field")
	}
	l := first
	l.Body, l.Author, l.ReplyTo, l.Resolved = body, c.User.ID, cmp.Or(first.ReplyTo, first.ID), false
	return c.createLineComment(l)
}

// createLineComment creates the comment and, as GitHub does, a review for it alone.
func (c *call) createLineComment(l store.LineComment) (int, any, error) {
	err := c.Change(func(t *store.Tx, r store.Repo) error {
		w := store.Review{ID: t.ID(), Pull: l.Pull, State: "COMMENTED", Commit: l.Commit, Author: l.Author, Submitted: t.Now}
		t.Put(store.Entry{Repo: c.Name(), Review: &w})
		l = putLine(t, c.Name(), l, w.ID)
		i, err := c.Issue(r)
		t.Touch(c.Name(), i)
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
	l, err := c.changeLine(func(l *store.LineComment) { l.Body = body })
	if err != nil {
		return 0, nil, err
	}
	o, err := c.lineComment(l)
	return http.StatusOK, o, err
}

func deleteLine(c *call) (int, any, error) {
	_, err := c.changeLine(func(l *store.LineComment) { l.Deleted = true })
	return http.StatusNoContent, nil, err
}

// changeLine changes the comment that the path names. Its author may, and users who can write.
func (c *call) changeLine(how func(*store.LineComment)) (l store.LineComment, err error) {
	err = c.Change(func(t *store.Tx, r store.Repo) error {
		if l, err = c.lineOf(r, c.PathID("id")); err != nil {
			return err
		}
		if l.Author != c.User.ID && c.Level < store.Write {
			return host.ErrForbidden
		}
		how(&l)
		l.Updated = t.Now
		t.Put(store.Entry{Repo: c.Name(), Line: &l})
		i, _ := r.Issues.Get(l.Pull)
		t.Touch(c.Name(), i)
		return nil
	})
	return l, err
}
