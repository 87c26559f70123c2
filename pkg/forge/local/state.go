package local

import (
	"maps"
	"strings"
	"sync"
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
	lines    table[lineComment]
	pushes   table[push]
	rulesets table[ruleset]
	guards   table[guard]

	// refs serialises what reads the repository's refs and then moves them.
	refs *sync.Mutex
}

// entry is one upserted row of the journal.
type entry struct {
	Repo       string       `json:"repo,omitempty"` // owner/name the row belongs to
	Account    *account     `json:"account,omitempty"`
	Repository *repository  `json:"repository,omitempty"`
	Label      *label       `json:"label,omitempty"`
	Issue      *issue       `json:"issue,omitempty"`
	Comment    *comment     `json:"comment,omitempty"`
	Review     *review      `json:"review,omitempty"`
	Status     *status      `json:"status,omitempty"`
	Check      *check       `json:"check,omitempty"`
	Line       *lineComment `json:"line,omitempty"`
	Push       *push        `json:"push,omitempty"`
	Ruleset    *ruleset     `json:"ruleset,omitempty"`
	Guard      *guard       `json:"guard,omitempty"`
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
	case e.Line != nil:
		saw(e.Line.ID)
		r.lines = r.lines.with(*e.Line)
	case e.Push != nil:
		saw(e.Push.ID)
		r.pushes = r.pushes.with(*e.Push)
	case e.Ruleset != nil:
		saw(e.Ruleset.ID)
		r.rulesets = r.rulesets.with(*e.Ruleset)
	case e.Guard != nil:
		saw(e.Guard.ID)
		r.guards = r.guards.with(*e.Guard)
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
