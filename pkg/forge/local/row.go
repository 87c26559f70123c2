package local

import (
	"strings"
	"time"
)

// account is a user, a bot or an organisation.
type account struct {
	ID      int64     `json:"id"`
	Login   string    `json:"login"`
	Type    string    `json:"type"`
	Created time.Time `json:"created"`
}

// repository is a repository's own row.
type repository struct {
	ID      int64     `json:"id"`
	Owner   string    `json:"owner"`
	Name    string    `json:"name"`
	Branch  string    `json:"branch"` // the default one
	Created time.Time `json:"created"`
	Pushed  time.Time `json:"pushed"`
	// Refused are the ways to merge it does not allow.
	Refused []string `json:"refused_methods,omitempty"`
}

type label struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Color       string `json:"color"`
	Description string `json:"description"`
}

// issue is an issue, or the issue half of a pull request.
type issue struct {
	ID       int64      `json:"id"`
	Number   int64      `json:"number"`
	Title    string     `json:"title"`
	Body     string     `json:"body"`
	State    string     `json:"state"`
	Reason   string     `json:"reason,omitempty"`
	Locked   bool       `json:"locked,omitempty"`
	Labels   []string   `json:"labels,omitempty"`
	Author   int64      `json:"author"`
	Created  time.Time  `json:"created"`
	Updated  time.Time  `json:"updated"`
	Closed   *time.Time `json:"closed,omitempty"`
	ClosedBy int64      `json:"closed_by,omitempty"`
	Pull     *pull      `json:"pull,omitempty"`
}

// pull is what makes an issue a pull request. The commits are those last seen
// in git while it was open.
type pull struct {
	Head     string     `json:"head"`
	Base     string     `json:"base"`
	HeadSHA  string     `json:"head_sha"`
	BaseSHA  string     `json:"base_sha"`
	Draft    bool       `json:"draft,omitempty"`
	Merging  *merging   `json:"merging,omitempty"`
	Merged   *time.Time `json:"merged,omitempty"`
	MergedBy int64      `json:"merged_by,omitempty"`
	MergeSHA string     `json:"merge_sha,omitempty"`
	Asked    []int64    `json:"asked,omitempty"` // reviewers requested
}

// merging is a merge that was decided on: it is written before git is changed,
// so that a forge killed in between knows at the next start what it did.
type merging struct {
	SHA string `json:"sha"`
	By  int64  `json:"by"`
}

type comment struct {
	ID      int64     `json:"id"`
	Issue   int64     `json:"issue"` // its number
	Body    string    `json:"body"`
	Author  int64     `json:"author"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Deleted bool      `json:"deleted,omitempty"`
}

type review struct {
	ID        int64     `json:"id"`
	Pull      int64     `json:"pull"` // its number
	State     string    `json:"state"`
	Body      string    `json:"body"`
	Commit    string    `json:"commit"`
	Author    int64     `json:"author"`
	Submitted time.Time `json:"submitted"`
}

type status struct {
	ID          int64     `json:"id"`
	SHA         string    `json:"sha"`
	State       string    `json:"state"`
	Context     string    `json:"context"`
	Description string    `json:"description"`
	TargetURL   string    `json:"target_url"`
	Creator     int64     `json:"creator"`
	Created     time.Time `json:"created"`
}

type check struct {
	ID         int64      `json:"id"`
	SHA        string     `json:"sha"`
	Name       string     `json:"name"`
	Status     string     `json:"status"`
	Conclusion string     `json:"conclusion,omitempty"`
	DetailsURL string     `json:"details_url,omitempty"`
	ExternalID string     `json:"external_id,omitempty"`
	Title      string     `json:"title,omitempty"`
	Summary    string     `json:"summary,omitempty"`
	Text       string     `json:"text,omitempty"`
	Started    *time.Time `json:"started,omitempty"`
	Completed  *time.Time `json:"completed,omitempty"`
	App        int64      `json:"app,omitempty"` // the bot that runs it
}

func (a account) key() int64 { return a.ID }
func (l label) key() int64   { return l.ID }
func (i issue) key() int64   { return i.Number }
func (c comment) key() int64 { return c.ID }
func (r review) key() int64  { return r.ID }
func (s status) key() int64  { return s.ID }
func (c check) key() int64   { return c.ID }

func (r repository) fullName() string { return r.Owner + "/" + r.Name }

func (r repo) label(name string) (label, bool) {
	for _, l := range r.labels {
		if strings.EqualFold(l.Name, name) {
			return l, true
		}
	}
	return label{}, false
}

// commentsOn is the issue's comments, oldest first.
func (r repo) commentsOn(number int64) []comment {
	return r.comments.where(func(c comment) bool { return c.Issue == number && !c.Deleted })
}
