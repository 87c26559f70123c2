package local

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// state is everything the forge knows besides the git repositories. It is
// never changed: with returns the next one, so a request reads one consistent
// state from start to end without a lock.
type state struct {
	lastID   int64
	accounts table[account]
	repos    map[string]repo // by lower-case owner/name
}

// repo is one repository and what hangs on it.
type repo struct {
	repository
	labels   table[label]
	issues   table[issue]
	comments table[comment]
	reviews  table[review]
	statuses table[status]
	checks   table[check]

	// refs serialises what reads the repository's refs and then moves them.
	refs *sync.Mutex
}

// entry is one upserted row of the journal.
type entry struct {
	Repo       string      `json:"repo,omitempty"` // owner/name the row belongs to
	Account    *account    `json:"account,omitempty"`
	Repository *repository `json:"repository,omitempty"`
	Label      *label      `json:"label,omitempty"`
	Issue      *issue      `json:"issue,omitempty"`
	Comment    *comment    `json:"comment,omitempty"`
	Review     *review     `json:"review,omitempty"`
	Status     *status     `json:"status,omitempty"`
	Check      *check      `json:"check,omitempty"`
}

func (s *state) with(entries []entry) *state {
	next := &state{lastID: s.lastID, accounts: s.accounts, repos: maps.Clone(s.repos)}
	if next.repos == nil {
		next.repos = map[string]repo{}
	}
	for _, e := range entries {
		next.put(e)
	}
	return next
}

func (s *state) put(e entry) {
	saw := func(id int64) { s.lastID = max(s.lastID, id) }
	key := strings.ToLower(e.Repo)
	r := s.repos[key]
	switch {
	case e.Account != nil:
		saw(e.Account.ID)
		s.accounts = s.accounts.with(*e.Account)
		return
	case e.Repository != nil:
		saw(e.Repository.ID)
		r.repository = *e.Repository
		if r.refs == nil {
			r.refs = new(sync.Mutex)
		}
	case e.Label != nil:
		saw(e.Label.ID)
		r.labels = r.labels.with(*e.Label)
	case e.Issue != nil:
		saw(e.Issue.ID)
		r.issues = r.issues.with(*e.Issue)
	case e.Comment != nil:
		saw(e.Comment.ID)
		r.comments = r.comments.with(*e.Comment)
	case e.Review != nil:
		saw(e.Review.ID)
		r.reviews = r.reviews.with(*e.Review)
	case e.Status != nil:
		saw(e.Status.ID)
		r.statuses = r.statuses.with(*e.Status)
	case e.Check != nil:
		saw(e.Check.ID)
		r.checks = r.checks.with(*e.Check)
	}
	s.repos[key] = r
}

func (s *state) repo(fullName string) (repo, bool) {
	r, ok := s.repos[strings.ToLower(fullName)]
	return r, ok
}

func (s *state) account(login string) (account, bool) {
	for _, a := range s.accounts {
		if strings.EqualFold(a.Login, login) {
			return a, true
		}
	}
	return account{}, false
}

// table is rows in the order of their keys, copied when one changes.
type table[T interface{ key() int64 }] []T

func (t table[T]) find(key int64) (int, bool) {
	return slices.BinarySearchFunc(t, key, func(row T, key int64) int { return cmp.Compare(row.key(), key) })
}

func (t table[T]) get(key int64) (T, bool) {
	if at, ok := t.find(key); ok {
		return t[at], true
	}
	var none T
	return none, false
}

func (t table[T]) with(row T) table[T] {
	at, ok := t.find(row.key())
	if ok {
		t = slices.Clone(t)
		t[at] = row
		return t
	}
	return slices.Insert(slices.Clip(t), at, row)
}

// where is the rows that fit.
func (t table[T]) where(fits func(T) bool) []T {
	rows := []T{}
	for _, row := range t {
		if fits(row) {
			rows = append(rows, row)
		}
	}
	return rows
}

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
