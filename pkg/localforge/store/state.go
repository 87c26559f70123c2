package store

import (
	"maps"
	"strings"
	"sync"
)

// State is all rows at one moment. It is immutable.
type State struct {
	lastID   int64
	Accounts Table[Account]
	Apps     Table[App]       // that were made on the forge's page
	repos    map[string]Repo  // by lower-case owner/name
	former   map[string]int64 // the repositories that had a name before, by lower-case owner/name
}

// Repo is one repository and the rows that belong to it. It is immutable.
type Repo struct {
	Repository
	Labels   Table[Label]
	Issues   Table[Issue]
	Comments Table[Comment]
	Reviews  Table[Review]
	Statuses Table[Status]
	Checks   Table[Check]
	Lines    Table[LineComment]
	Marks    Table[Mark]
	Pushes   Table[Push]
	Rulesets Table[Ruleset]
	Guards   Table[Guard]
	Webhooks Table[Webhook]

	// Refs is locked from reading the refs of the repository until they are moved.
	Refs *sync.Mutex
}

// Entry is one row of the journal, inserted or replaced. Exactly one of its pointers
// is set, or Renamed.
type Entry struct {
	Repo       string       `json:"repo,omitempty"`    // owner/name the row belongs to
	Renamed    string       `json:"renamed,omitempty"` // the name of Repo from now on; its owner stays
	Account    *Account     `json:"account,omitempty"`
	App        *App         `json:"app,omitempty"`
	Repository *Repository  `json:"repository,omitempty"`
	Label      *Label       `json:"label,omitempty"`
	Issue      *Issue       `json:"issue,omitempty"`
	Comment    *Comment     `json:"comment,omitempty"`
	Review     *Review      `json:"review,omitempty"`
	Status     *Status      `json:"status,omitempty"`
	Check      *Check       `json:"check,omitempty"`
	Line       *LineComment `json:"line,omitempty"`
	Mark       *Mark        `json:"mark,omitempty"`
	Push       *Push        `json:"push,omitempty"`
	Ruleset    *Ruleset     `json:"ruleset,omitempty"`
	Guard      *Guard       `json:"guard,omitempty"`
	Webhook    *Webhook     `json:"webhook,omitempty"`
}

// with returns the state after the entries.
func (s *State) with(entries []Entry) *State {
	next := &State{lastID: s.lastID, Accounts: s.Accounts, Apps: s.Apps, repos: maps.Clone(s.repos), former: maps.Clone(s.former)}
	if next.repos == nil {
		next.repos, next.former = map[string]Repo{}, map[string]int64{}
	}
	for _, e := range entries {
		next.put(e)
	}
	return next
}

// put changes the state in place: it is not published yet.
func (s *State) put(e Entry) {
	saw := func(id int64) { s.lastID = max(s.lastID, id) }
	key := strings.ToLower(e.Repo)
	r, there := s.repos[key]
	if now, moved := s.Repo(e.Repo); moved && !there && (e.Repository == nil || e.Repository.ID == now.ID) {
		r, key = now, strings.ToLower(now.FullName()) // the change was decided before the repository was renamed
	}
	switch {
	case e.Account != nil:
		saw(e.Account.ID)
		s.Accounts = s.Accounts.with(*e.Account)
		return
	case e.App != nil:
		saw(e.App.ID)
		for _, i := range e.App.Installations {
			saw(i.ID)
		}
		s.Apps = s.Apps.with(*e.App)
		return
	case e.Repository != nil:
		saw(e.Repository.ID)
		r.Repository = *e.Repository
		if r.Refs == nil {
			r.Refs = new(sync.Mutex)
		}
	case e.Renamed != "":
		delete(s.repos, key)
		s.former[key] = r.ID
		r.Dir, r.Name = r.Path(), e.Renamed
		key = strings.ToLower(r.FullName())
	case e.Label != nil:
		saw(e.Label.ID)
		r.Labels = r.Labels.with(*e.Label)
	case e.Issue != nil:
		saw(e.Issue.ID)
		r.Issues = r.Issues.with(*e.Issue)
	case e.Comment != nil:
		saw(e.Comment.ID)
		r.Comments = r.Comments.with(*e.Comment)
	case e.Review != nil:
		saw(e.Review.ID)
		r.Reviews = r.Reviews.with(*e.Review)
	case e.Status != nil:
		saw(e.Status.ID)
		r.Statuses = r.Statuses.with(*e.Status)
	case e.Check != nil:
		saw(e.Check.ID)
		r.Checks = r.Checks.with(*e.Check)
	case e.Line != nil:
		saw(e.Line.ID)
		r.Lines = r.Lines.with(*e.Line)
	case e.Mark != nil:
		saw(e.Mark.ID)
		r.Marks = r.Marks.with(*e.Mark)
	case e.Push != nil:
		saw(e.Push.ID)
		r.Pushes = r.Pushes.with(*e.Push)
	case e.Ruleset != nil:
		saw(e.Ruleset.ID)
		r.Rulesets = r.Rulesets.with(*e.Ruleset)
	case e.Guard != nil:
		saw(e.Guard.ID)
		r.Guards = r.Guards.with(*e.Guard)
	case e.Webhook != nil:
		saw(e.Webhook.ID)
		r.Webhooks = r.Webhooks.with(*e.Webhook)
	}
	s.repos[key] = r
}

// Repo returns the repository that has the name owner/name, or had it last, in letters of
// either case.
func (s *State) Repo(fullName string) (Repo, bool) {
	if r, ok := s.Named(fullName); ok {
		return r, true
	}
	id, ok := s.former[strings.ToLower(fullName)]
	if !ok {
		return Repo{}, false
	}
	return s.ByID(id)
}

// Named returns the repository that has the name now.
func (s *State) Named(fullName string) (Repo, bool) {
	r, ok := s.repos[strings.ToLower(fullName)]
	return r, ok
}

// ByID returns the repository of the number, which stays when it is renamed.
func (s *State) ByID(id int64) (Repo, bool) {
	for _, r := range s.repos {
		if r.ID == id {
			return r, true
		}
	}
	return Repo{}, false
}

// Repos returns all repositories in no order.
func (s *State) Repos() []Repo {
	all := make([]Repo, 0, len(s.repos))
	for _, r := range s.repos {
		all = append(all, r)
	}
	return all
}

// Account returns the account with the login, in letters of either case.
func (s *State) Account(login string) (Account, bool) {
	for _, a := range s.Accounts {
		if strings.EqualFold(a.Login, login) {
			return a, true
		}
	}
	return Account{}, false
}
