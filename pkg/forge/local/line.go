package local

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// lineComment is a comment on a line of the change. The first of a thread
// stands for the thread.
type lineComment struct {
	ID       int64     `json:"id"`
	Pull     int64     `json:"pull"` // its number
	Review   int64     `json:"review"`
	ReplyTo  int64     `json:"reply_to,omitempty"`
	Body     string    `json:"body"`
	Author   int64     `json:"author"`
	Path     string    `json:"path"`
	Line     int       `json:"line"` // in the file of the commit
	Commit   string    `json:"commit"`
	Hunk     string    `json:"hunk"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Resolved bool      `json:"resolved,omitempty"` // the thread
	Deleted  bool      `json:"deleted,omitempty"`
}

func (l lineComment) key() int64 { return l.ID }

// linesOf is the comments on lines of the pull request, oldest first.
func (r repo) linesOf(number int64) []lineComment {
	return r.lines.where(func(l lineComment) bool { return l.Pull == number && !l.Deleted })
}

// lineComment is the comment as GitHub shows it, at the line it has now.
func (c *call) lineComment(l lineComment) (object, error) {
	v := c.view()
	i, _ := c.repo.issues.get(l.Pull)
	now, err := c.f.moveLine(c.Context(), c.name(), l.Commit, i.Pull.HeadSHA, l.Path, l.Line)
	if err != nil {
		return nil, err
	}
	api := fmt.Sprintf("%s/pulls/comments/%d", v.repoAPI(c.repo), l.ID)
	html := fmt.Sprintf("%s#discussion_r%d", v.issueURL(c.repo, i), l.ID)
	o := object{
		"id": l.ID, "node_id": nodeID("PullRequestReviewComment", l.ID), "url": api, "html_url": html, "body": l.Body,
		"pull_request_review_id": l.Review, "pull_request_url": v.pullAPI(c.repo, i), "diff_hunk": l.Hunk, "path": l.Path,
		"commit_id": i.Pull.HeadSHA, "original_commit_id": l.Commit, "user": v.user(l.Author), "author_association": v.association(c.repo, l.Author),
		"created_at": l.Created, "updated_at": l.Updated, "original_line": l.Line, "side": "RIGHT", "subject_type": "line",
		"position": strings.Count(l.Hunk, "\n"), "original_position": strings.Count(l.Hunk, "\n"),
		"_links": object{"self": object{"href": api}, "html": object{"href": html}, "pull_request": object{"href": v.pullAPI(c.repo, i)}},
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

func (c *call) lineComments(rows []lineComment) (int, any, error) {
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
	i, err := c.pull()
	if err != nil {
		return 0, nil, err
	}
	since, err := sinceOf(c)
	if err != nil {
		return 0, nil, err
	}
	rows := slices.DeleteFunc(c.repo.linesOf(i.Number), func(l lineComment) bool { return l.Updated.Before(since) })
	rows = shown(c, rows, func(l lineComment) (id, by int64) { return l.ID, l.Author })
	q := c.URL.Query()
	if q.Get("sort") == "updated" {
		slices.SortStableFunc(rows, func(a, b lineComment) int { return a.Updated.Compare(b.Updated) })
	}
	if q.Get("sort") != "" && cmp.Or(q.Get("direction"), "desc") == "desc" {
		slices.Reverse(rows)
	}
	return c.lineComments(rows)
}

func listReviewLines(c *call) (int, any, error) {
	if _, err := c.pull(); err != nil {
		return 0, nil, err
	}
	w, err := c.foundReview(c.repo)
	if err != nil {
		return 0, nil, err
	}
	return c.lineComments(c.repo.lines.where(func(l lineComment) bool { return l.Review == w.ID && !l.Deleted }))
}

func (c *call) foundLine(r repo, id int64) (lineComment, error) {
	l, ok := r.lines.get(id)
	if !ok || l.Deleted {
		return lineComment{}, errNotFound
	}
	return l, nil
}

func getLine(c *call) (int, any, error) {
	l, err := c.foundLine(c.repo, c.id("id"))
	if err != nil {
		return 0, nil, err
	}
	o, err := c.lineComment(l)
	return http.StatusOK, o, err
}
