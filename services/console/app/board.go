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

// matches reports whether the board shows a row, whatever its lifecycle and state.
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
		f.Text != "" && !contains(r.ID, f.Text) && !contains(r.Title, f.Text):
		return false
	}
	return true
}

// placed reports whether a row is in the lifecycle and state that the filter asks for.
func (f filter) placed(r *row) bool {
	return (f.Workflow == "" || f.Workflow == r.Workflow) && (f.State == "" || f.State == r.State)
}

func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
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
	type place struct{ workflow, state string }
	counts, looks := map[place]int{}, map[place]look{}
	repos, workflows, roles, labels := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range s.rows {
		if r.Closed != "" {
			p.Closed++
		}
		if !(filter{Closed: f.Closed}).matches(r, now) {
			continue
		}
		p.All++
		repos[r.Repo], workflows[r.Workflow], roles[r.Role] = true, true, true
		for _, label := range r.Labels {
			if len(labels) < maxLabels {
				labels[label] = true
			}
		}
		if !f.matches(r, now) {
			continue
		}
		at := place{r.Workflow, r.State}
		counts[at]++
		looks[at] = stateLook(r, looks[at])
		if f.placed(r) {
			shown = append(shown, r)
		}
	}
	p.Repos, p.Workflows, p.Roles, p.Labels = names(repos), names(workflows), names(roles), names(labels)
	byName := map[string]*lifecycle{}
	for at, n := range counts {
		l := byName[at.workflow]
		if l == nil {
			l = &lifecycle{Name: at.workflow, Page: lifecycleURL(at.workflow), Chosen: f.Workflow == at.workflow, URL: f.with(func(f *filter) { f.Workflow, f.State = at.workflow, "" })}
			byName[at.workflow] = l
		}
		l.Count += n
		l.States = append(l.States, choice{Text: at.state, Count: n, Chosen: f.State == at.state && f.Workflow == at.workflow, Look: looks[at],
			URL: f.with(func(f *filter) { f.Workflow, f.State = at.workflow, at.state })})
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
	for _, r := range first(shown, to)[from:] {
		p.Rows = append(p.Rows, boardRow{row: *r, URL: instanceURL(r.ID), Look: r.look(), Late: r.late(now)})
	}
	if p.From, p.To = from+1, to; p.Total == 0 {
		p.From = 0
	}
	page := func(n int) string { f := p.Filter; f.Page = n; return f.url() }
	if from > 0 {
		p.Prev = page(p.Filter.Page - 1)
	}
	if to < p.Total {
		p.Next = page(p.Filter.Page + 1)
	}
	p.Drop = f.drop()
	return p
}

// first returns the first n rows in order. Few of many take one pass.
func first(all []*row, n int) []*row {
	if n == 0 || n*n > len(all) {
		slices.SortFunc(all, order)
		return all[:n]
	}
	var found []*row
	for _, r := range all {
		if len(found) == n && order(r, found[n-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(found, r, order)
		found = slices.Insert(found, at, r)
		found = found[:min(len(found), n)]
	}
	return found
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

func names(of map[string]bool) []string {
	delete(of, "")
	return slices.Sorted(maps.Keys(of))
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
