package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// warnAt is the part of a budget at which people get a warning.
const warnAt = 0.8

// Ledger sums what was spent of budgets today. It is safe for concurrent use.
type Ledger struct {
	known  func(id string) (instance.Instance, bool)
	wanted chan struct{} // closed when there is a budget to be held

	mu      sync.Mutex
	want    bool
	begun   bool              // Ahead counts
	caught  bool              // what was spent before is counted
	day     time.Time         // UTC midnight
	lines   []line            // of the operator, in the order of the budgets
	sums    sums              // for the budgets of repositories
	own     map[string]Budget // of repositories, by their text: those that were asked for today
	raised  map[string]instance.Cost
	read    uint64            // sequence of the newest commit that Note was given
	ahead   map[uint64]bool   // sequences of newer ones that Ahead was given
	working map[string]string // roles by instance, of claims
	repos   map[string]string // by instance, where its name does not say it
}

// sums is what was spent, by repository and role.
type sums map[string]map[string]instance.Cost

// of returns what was spent of a budget of a repository.
func (s sums) of(b Budget) (sum instance.Cost) {
	for role, c := range s[b.Repo] {
		if b.covers(b.Repo, role) {
			sum = sum.Add(c)
		}
	}
	return sum
}

// line is what was spent of one budget.
type line struct {
	budget Budget
	limit  Budget // with what it was raised by
	spent  instance.Cost
}

func (b line) part() float64 { return b.limit.uses(b.spent) }

func (b line) use() Use { return Use{Budget: b.budget, Part: b.part(), Said: b.limit.of(b.spent)} }

// Use is how much of a budget is spent.
type Use struct {
	Budget Budget
	Part   float64 // 1 is all of it
	Said   string  // such as "$16.00 of $20.00"
}

// New returns a ledger of the operator's budgets, all unspent. known returns
// an instance as it is, if there is one; it may not call the ledger.
func New(budgets []Budget, known func(id string) (instance.Instance, bool)) *Ledger {
	l := &Ledger{known: known, wanted: make(chan struct{}), ahead: map[uint64]bool{}, working: map[string]string{}, repos: map[string]string{},
		sums: sums{}, own: map[string]Budget{}, raised: map[string]instance.Cost{}}
	for _, b := range budgets {
		l.lines = append(l.lines, line{budget: b})
	}
	if len(budgets) > 0 {
		l.ask()
	}
	return l
}

// Wanted is closed when there is a budget to be held: one of the operator, or of a
// repository whose work was asked about. Then the day is to be read: Begin, Note, CaughtUp.
func (l *Ledger) Wanted() <-chan struct{} { return l.wanted }

// ask closes Wanted.
func (l *Ledger) ask() {
	if !l.want {
		l.want = true
		close(l.wanted)
	}
}

// Begin has Ahead count from now on. Call it before the first Note.
func (l *Ledger) Begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = true
}

// CaughtUp records that Note was given all commits of the day that there were.
func (l *Ledger) CaughtUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.caught = true
}

// Day returns the begin of the day, UTC.
func Day(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

// Note adds what a commit of the log spent, unless Ahead did. It returns the budgets that
// have now reached 80 % or all, and had not before. Call it with the commits of a
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
	if c.Seq <= l.read || !l.begun {
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
		case instance.DayRaised:
			if l.turn(c.At); !Day(c.At).Before(l.day) {
				l.raised[e.Budget] = l.raised[e.Budget].Add(instance.Cost{USD: e.USD, TokensIn: e.Tokens, WallMS: e.WallMS})
			}
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
	before := l.covering(in, repo, role)
	for i := range l.lines {
		if l.lines[i].budget.covers(repo, role) {
			l.lines[i].spent = l.lines[i].spent.Add(c)
		}
	}
	if strings.Contains(repo, "/") { // only those have a configuration
		if l.sums[repo] == nil {
			l.sums[repo] = map[string]instance.Cost{}
		}
		l.sums[repo][role] = l.sums[repo][role].Add(c)
	}
	for i, b := range l.covering(in, repo, role) {
		if was, now := before[i].part(), b.part(); was < warnAt && now >= warnAt || was < 1 && now >= 1 {
			passed = append(passed, b.use())
		}
	}
	return passed
}

// covering returns the budgets that what a role spends on an instance counts for: those of
// the operator, then those of the repository.
func (l *Ledger) covering(in instance.Instance, repo, role string) (all []line) {
	for _, b := range l.all(in, repo) {
		if b.budget.covers(repo, role) {
			all = append(all, b)
		}
	}
	return all
}

// all returns the budgets of the operator, then those of the instance's repository.
func (l *Ledger) all(in instance.Instance, repo string) []line {
	all := slices.Clone(l.lines)
	for _, d := range in.Issue.Configured().Days {
		b := Budget{Repo: repo, Role: d.Role, USD: d.USD, Tokens: d.Tokens, Wall: time.Duration(d.WallMS) * time.Millisecond}
		if b.USD > 0 || b.Tokens > 0 || b.Wall > 0 {
			l.own[b.String()] = b
			all = append(all, line{budget: b, spent: l.sums.of(b)})
		}
	}
	for i := range all {
		if all[i].limit = all[i].budget; len(l.raised) > 0 {
			all[i].limit = all[i].budget.raisedBy(l.raised[all[i].budget.String()])
		}
	}
	return all
}

// turn begins the day of a time, if it is a new one.
func (l *Ledger) turn(at time.Time) {
	day := Day(at)
	if !day.After(l.day) {
		return
	}
	l.day = day
	clear(l.working) // who works on, and where, is known of what lives
	clear(l.repos)
	clear(l.sums)
	clear(l.own)
	clear(l.raised)
	for i := range l.lines {
		l.lines[i].spent = instance.Cost{}
	}
}

// readWithin is how long work of a repository with budgets rests while the day is read.
const readWithin = 2 * time.Second

// Rests returns until when a role may begin nothing on an instance, and why; the zero time
// if it may.
func (l *Ledger) Rests(at time.Time, in instance.Instance, role string) (until time.Time, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(in.Issue.Configured().Days) > 0 {
		l.ask()
		if !l.caught {
			return at.Add(readWithin), "today's costs are being read"
		}
	}
	if why := l.over(at, in, role); why != "" {
		return l.day.Add(24 * time.Hour), why
	}
	return time.Time{}, ""
}

// Over returns why a role may spend nothing more today on an instance, "" if it may.
func (l *Ledger) Over(at time.Time, in instance.Instance, role string) (why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over(at, in, role)
}

func (l *Ledger) over(at time.Time, in instance.Instance, role string) string {
	l.turn(at)
	for _, b := range l.covering(in, l.repo(in), role) {
		if b.part() >= 1 {
			return fmt.Sprintf("the budget %s is spent: %s", b.budget, b.limit.of(b.spent))
		}
	}
	return ""
}

// Raise returns a raise with the names of the budgets that it is of: that which it names,
// else those that are spent and cover the work of the instance. The error is for people.
func (l *Ledger) Raise(at time.Time, in instance.Instance, a instance.RaiseDay) (instance.RaiseDay, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(at)
	repo := l.repo(in)
	named := ""
	if len(a.Budgets) > 0 {
		b, err := Parse(a.Budgets[0])
		if err != nil {
			return a, err
		}
		named = b.String()
	}
	var names, units []string
	a.Budgets = nil
	for _, b := range l.all(in, repo) {
		name := b.budget.String()
		names = append(names, name)
		switch {
		case named != "" && name != named, named == "" && (!b.budget.covers(repo, in.Owner) || b.part() < 1):
		case b.budget.USD > 0 && a.USD > 0, b.budget.Tokens > 0 && a.Tokens > 0, b.budget.Wall > 0 && a.WallMS > 0:
			a.Budgets = append(a.Budgets, name)
		default:
			units = append(units, fmt.Sprintf("%s is raised by an amount such as %s", name, b.budget.Unit()))
		}
	}
	switch {
	case len(a.Budgets) > 0:
		return a, nil
	case len(units) > 0:
		return a, errors.New("the budget " + strings.Join(units, ", the budget "))
	case len(names) == 0:
		return a, fmt.Errorf("no budget of a day covers %s", in.ID)
	case named != "":
		return a, fmt.Errorf("there is no budget %s of %s; there are %s", named, in.ID, strings.Join(names, "; "))
	}
	if in.Closed != "" || in.Owner == "" {
		return a, fmt.Errorf("nobody works on %s, so no budget holds it; name one of %s", in.ID, strings.Join(names, "; "))
	}
	return a, fmt.Errorf("no budget that covers the work of %s on %s is spent today; name one of %s", in.Owner, in.ID, strings.Join(names, "; "))
}

// Uses returns how much of each budget is spent.
func (l *Ledger) Uses(at time.Time) []Use {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(at)
	all := l.all(instance.Instance{}, "")
	for _, name := range slices.Sorted(maps.Keys(l.own)) {
		b := l.own[name]
		all = append(all, line{budget: b, limit: b.raisedBy(l.raised[name]), spent: l.sums.of(b)})
	}
	uses := make([]Use, len(all))
	for i, b := range all {
		uses[i] = b.use()
	}
	return uses
}
