package app

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

const (
	perPage   = 50  // rows
	maxLabels = 100 // that the board proposes
)

// filter is what the query of the board's address asks for. The zero filter asks for all that
// are open.
type filter struct {
	Repo, Workflow, State, Role, Label, Text string
	Waiting, Late, Failing, Unproven, Closed bool
	Page                                     int // from 0
}

// The keys of the query.
const (
	keyRepo, keyWorkflow, keyState, keyRole, keyLabel, keyText, keyPage = "repo", "workflow", "state", "role", "label", "q", "page"
	keyWaiting, keyLate, keyFailing, keyUnproven, keyClosed, isOn       = "waiting", "late", "failing", "unproven", "closed", "1"
)

// texts and marks return the fields of a filter by their keys.
func (f *filter) texts() map[string]*string {
	return map[string]*string{keyRepo: &f.Repo, keyWorkflow: &f.Workflow, keyState: &f.State, keyRole: &f.Role, keyLabel: &f.Label, keyText: &f.Text}
}

func (f *filter) marks() map[string]*bool {
	return map[string]*bool{keyWaiting: &f.Waiting, keyLate: &f.Late, keyFailing: &f.Failing, keyUnproven: &f.Unproven, keyClosed: &f.Closed}
}

// readFilter reads a query, and returns the keys that it does not know.
func readFilter(q url.Values) (f filter, ignored []string) {
	texts, marks := f.texts(), f.marks()
	for _, key := range slices.Sorted(maps.Keys(q)) {
		value := q.Get(key)
		switch {
		case texts[key] != nil:
			*texts[key] = strings.TrimSpace(value)
		case marks[key] != nil:
			*marks[key] = value == isOn
		case key == keyPage:
			if n, err := strconv.Atoi(value); err == nil && n > 1 {
				f.Page = n - 1
			}
		default:
			ignored = append(ignored, key)
		}
	}
	return f, ignored
}

// url returns the address of the board with the filter, without what is as usual.
func (f filter) url() string {
	q := url.Values{}
	for key, value := range f.texts() {
		if *value != "" {
			q.Set(key, *value)
		}
	}
	for key, on := range f.marks() {
		if *on {
			q.Set(key, isOn)
		}
	}
	if f.Page > 0 {
		q.Set(keyPage, strconv.Itoa(f.Page+1))
	}
	return (&url.URL{Path: "/", RawQuery: q.Encode()}).String()
}

// with returns the address of the first page with one more change of the filter.
func (f filter) with(change func(*filter)) string {
	f.Page = 0
	change(&f)
	return f.url()
}

// matches reports whether the board shows a row, whatever its lifecycle and state. The text is in small letters.
func (f filter) matches(r *row, now time.Time) bool {
	switch {
	case f.Closed != (r.Closed != ""),
		r.Workflow == learning.Workflow && f.Workflow != r.Workflow,
		f.Repo != "" && f.Repo != r.Repo,
		f.Role != "" && f.Role != r.Role,
		f.Label != "" && !slices.Contains(r.Labels, f.Label),
		f.Waiting && !r.Waits,
		f.Late && !r.late(now),
		f.Failing && r.Failures == 0,
		f.Unproven && r.Unproven == "",
		f.Text != "" && !strings.Contains(r.text(), f.Text):
		return false
	}
	return true
}

// placed reports whether a row is in the lifecycle and state that the filter asks for.
func (f filter) placed(r *row) bool {
	return (f.Workflow == "" || f.Workflow == r.Workflow) && (f.State == "" || f.State == r.State)
}

// order puts what waits for people first, then what fails, the oldest on top. Of closed ones
// the newest comes first.
func order(a, b *row) int {
	rank := func(r *row) int {
		switch {
		case r.Waits:
			return 0
		case r.Failures > 0:
			return 1
		}
		return 2
	}
	if a.Closed != "" {
		return cmp.Or(b.Entered.Compare(a.Entered), strings.Compare(a.ID, b.ID))
	}
	return cmp.Or(rank(a)-rank(b), a.Entered.Compare(b.Entered), strings.Compare(a.ID, b.ID))
}

// boardPage is the data of the board.
type boardPage struct {
	frame
	Filter     filter
	Lifecycles []lifecycle
	Rows       []boardRow
	From, To   int // of Total
	Total, All int // All: with no filter but that of closed ones
	Prev, Next string
	Drop       []choice // each filter, with the address without it
	Repos      []string
	Workflows  []string
	Roles      []string
	Labels     []string
	Ignored    string // keys of the query
	Loading    bool
	Closed     int // how many are closed
}

// lifecycle is a lifecycle with the states that instances are in.
type lifecycle struct {
	Name   string
	Count  int
	URL    string
	Chosen bool
	Page   string // that draws it
	States []choice
}

// choice is a link with a count.
type choice struct {
	Text   string
	Count  int
	URL    string
	Chosen bool
	Look   look
}

// boardRow is a row as the board prints it.
type boardRow struct {
	row
	URL  string
	Look look
	Why  string // it does not move; empty: it is not known yet
	Late bool
}

// makeBoard makes the board from all rows. It does not say why rows do not move: see rows.
func makeBoard(s snapshot, f filter, now time.Time) boardPage {
	p := boardPage{Filter: f, Loading: !s.loaded}
	var shown []*row
	counts := map[[2]string]*choice{} // by lifecycle and state
	c := s.choices(f.Closed)
	p.All, p.Closed, p.Repos, p.Workflows, p.Roles, p.Labels = c.All, c.Closed, c.Repos, c.Workflows, c.Roles, c.Labels
	wanted := f
	wanted.Text = strings.ToLower(f.Text)
	for _, r := range s.rows {
		if !wanted.matches(r, now) {
			continue
		}
		at := counts[[2]string{r.Workflow, r.State}]
		if at == nil {
			at = &choice{Text: r.State, Chosen: f.State == r.State && f.Workflow == r.Workflow,
				URL: f.with(func(f *filter) { f.Workflow, f.State = r.Workflow, r.State })}
			counts[[2]string{r.Workflow, r.State}] = at
		}
		at.Count++
		at.Look = stateLook(r, at.Look)
		if f.placed(r) {
			shown = append(shown, r)
		}
	}
	byName := map[string]*lifecycle{}
	for key, at := range counts {
		l := byName[key[0]]
		if l == nil {
			l = &lifecycle{Name: key[0], Page: lifecycleURL(key[0]), Chosen: f.Workflow == key[0], URL: f.with(func(f *filter) { f.Workflow, f.State = key[0], "" })}
			byName[key[0]] = l
		}
		l.Count += at.Count
		l.States = append(l.States, *at)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		l := byName[name]
		slices.SortFunc(l.States, func(a, b choice) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Text, b.Text)) })
		p.Lifecycles = append(p.Lifecycles, *l)
	}
	p.Total = len(shown)
	p.Filter.Page = min(f.Page, max(0, (p.Total-1)/perPage))
	from := p.Filter.Page * perPage
	to := min(from+perPage, p.Total)
	for _, r := range page(shown, from, to) {
		p.Rows = append(p.Rows, boardRow{row: *r, URL: instanceURL(r.ID), Look: r.look(), Late: r.late(now)})
	}
	if p.From, p.To = from+1, to; p.Total == 0 {
		p.From = 0
	}
	numbered := func(n int) string { f := p.Filter; f.Page = n; return f.url() }
	if from > 0 {
		p.Prev = numbered(p.Filter.Page - 1)
	}
	if to < p.Total {
		p.Next = numbered(p.Filter.Page + 1)
	}
	p.Drop = f.drop()
	return p
}

// stateLook is the look of a state on the board: of its instances, the one that needs a person
// most.
func stateLook(r *row, before look) look {
	now := r.look()
	if before.Class == "people" || before.Class == "failed" && now.Class != "people" {
		return before
	}
	return now
}

// drop lists the filters that are on, each with the address without it.
func (f filter) drop() (all []choice) {
	for _, key := range []string{keyWorkflow, keyState, keyRepo, keyRole, keyLabel, keyText} {
		if value := *f.texts()[key]; value != "" {
			name := map[string]string{keyText: "text"}[key]
			all = append(all, choice{Text: cmp.Or(name, key) + " " + value, URL: f.with(func(f *filter) { *f.texts()[key] = "" })})
		}
	}
	names := map[string]string{keyWaiting: "waits for people", keyLate: "late", keyFailing: "failing", keyUnproven: "unproven", keyClosed: "closed"}
	for _, key := range []string{keyWaiting, keyLate, keyFailing, keyUnproven, keyClosed} {
		if *f.marks()[key] {
			all = append(all, choice{Text: names[key], URL: f.with(func(f *filter) { *f.marks()[key] = false })})
		}
	}
	return all
}

// instanceURL returns the address of an instance's page.
func instanceURL(id string) string { return (&url.URL{Path: "/i/" + id}).String() }

// due says how long a row has until its deadline, or how long it is over.
func (r boardRow) Due(now time.Time) string {
	switch left := r.Deadline.Sub(now); {
	case r.Deadline.IsZero():
		return ""
	case left > 0:
		return term.Duration(left) + " left"
	default:
		return term.Duration(-left) + " late"
	}
}

// Who returns the holder of the work.
func (r boardRow) Who() string {
	switch {
	case r.Closed != "":
		return ""
	case r.Waits:
		return "people"
	case r.Agent != "":
		return r.Agent
	case r.Kind == workflow.Wait && r.Role == "":
		return "nobody"
	}
	return r.Role + ", not taken"
}

// Flags lists what else is to be known of a row.
func (r boardRow) Flags() (flags []string) {
	if r.Attempt > 1 {
		flags = append(flags, fmt.Sprintf("visit %d", r.Attempt))
	}
	if r.Failures > 0 {
		flags = append(flags, fmt.Sprintf("%d in a row failed", r.Failures))
	}
	if r.Unproven != "" {
		flags = append(flags, "unproven")
	}
	return flags
}
