package ledger

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
)

// warnAt is the part of a budget at which people are told.
const warnAt = 0.8

// Ledger sums what was spent of budgets today. It is safe for concurrent use.
type Ledger struct {
	known func(id string) (instance.Instance, bool)

	mu      sync.Mutex
	day     time.Time         // UTC midnight
	lines   []line            // in the order of the budgets
	read    uint64            // sequence of the newest commit that Note was given
	ahead   map[uint64]bool   // sequences of newer ones that Ahead was given
	working map[string]string // roles by instance, of claims
	repos   map[string]string // by instance, where its name does not say it
}

// line is what was spent of one budget.
type line struct {
	budget Budget
	spent  instance.Cost
}

// Use is how much of a budget is spent.
type Use struct {
	Budget Budget
	Part   float64 // 1 is all of it
	Said   string  // such as "$16.00 of $20.00"
}

// New returns a ledger of budgets of which nothing is spent. known returns an instance
// as it is, if there is one; it may not call the ledger.
func New(budgets []Budget, known func(id string) (instance.Instance, bool)) *Ledger {
	l := &Ledger{known: known, ahead: map[uint64]bool{}, working: map[string]string{}, repos: map[string]string{}}
	for _, b := range budgets {
		l.lines = append(l.lines, line{budget: b})
	}
	return l
}

// Day returns the begin of the day, UTC.
func Day(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

// Note adds what a commit of the log spent, unless Ahead did. It returns the budgets of
// which by now 80 % or all are spent, and were not before. Call it with the commits of a
// day in order.
func (l *Ledger) Note(c instance.Commit, id string) (passed []Use) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read = c.Seq
	if l.ahead[c.Seq] {
		delete(l.ahead, c.Seq)
		return nil
	}
	return l.note(c, id)
}

// Ahead is Note for a commit that this process appended, before the log brings it.
func (l *Ledger) Ahead(c instance.Commit, id string) (passed []Use) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Seq <= l.read || len(l.lines) == 0 {
		return nil
	}
	l.ahead[c.Seq] = true
	return l.note(c, id)
}

func (l *Ledger) note(c instance.Commit, id string) (passed []Use) {
	for _, e := range c.Events {
		switch e := e.(type) {
		case instance.Opened:
			if e.Issue.Repo != "" && e.Issue.Repo != prefix(id) {
				l.repos[id] = e.Issue.Repo
			}
		case instance.Claimed:
			l.working[id] = e.Role
		case instance.Released:
			delete(l.working, id)
		case instance.Spent:
			passed = append(passed, l.add(c.At, id, l.role(id), e.Spend)...)
		case instance.Reported:
			delete(l.working, id)
			passed = append(passed, l.add(c.At, id, e.Role, e.Result.Spend)...)
		}
	}
	return passed
}

// role returns the role that works on an instance.
func (l *Ledger) role(id string) string {
	if role := l.working[id]; role != "" {
		return role
	}
	in, _ := l.known(id) // it was claimed before the day
	if in.Claim != nil {
		return in.Claim.Role
	}
	return in.Owner
}

// repo returns the repository that an instance is about.
func (l *Ledger) repo(in instance.Instance) string {
	return cmp.Or(in.Issue.Repo, l.repos[in.ID], prefix(in.ID))
}

// prefix returns the repository that the name of an instance begins with.
func prefix(id string) string {
	if i := strings.LastIndexByte(id, '/'); i > 0 {
		return id[:i]
	}
	return id
}

// add adds a cost.
func (l *Ledger) add(at time.Time, id, role string, c instance.Cost) (passed []Use) {
	if c.Zero() {
		return nil
	}
	l.turn(at)
	if Day(at).Before(l.day) {
		return nil
	}
	in, _ := l.known(id)
	in.ID = id
	repo := l.repo(in)
	for i := range l.lines {
		b := &l.lines[i]
		if !b.budget.covers(repo, role) {
			continue
		}
		before := b.budget.uses(b.spent)
		b.spent = b.spent.Add(c)
		if now := b.budget.uses(b.spent); before < warnAt && now >= warnAt || before < 1 && now >= 1 {
			passed = append(passed, b.use())
		}
	}
	return passed
}

func (b line) use() Use { return Use{b.budget, b.budget.uses(b.spent), b.budget.of(b.spent)} }

// turn begins the day of a time, if it is a new one.
func (l *Ledger) turn(at time.Time) {
	day := Day(at)
	if !day.After(l.day) {
		return
	}
	l.day = day
	clear(l.working) // who works on, and where, is known of what lives
	clear(l.repos)
	for i := range l.lines {
		l.lines[i].spent = instance.Cost{}
	}
}

// Rests returns until when a role may spend nothing on an instance, and why; the zero
// time if it may.
func (l *Ledger) Rests(at time.Time, in instance.Instance, role string) (until time.Time, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(at)
	repo := l.repo(in)
	for _, b := range l.lines {
		if b.budget.covers(repo, role) && b.budget.uses(b.spent) >= 1 {
			return l.day.Add(24 * time.Hour), fmt.Sprintf("the budget %s is spent: %s", b.budget, b.budget.of(b.spent))
		}
	}
	return time.Time{}, ""
}

// Uses returns how much of each budget is spent.
func (l *Ledger) Uses(at time.Time) []Use {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(at)
	all := make([]Use, len(l.lines))
	for i, b := range l.lines {
		all[i] = b.use()
	}
	return all
}
