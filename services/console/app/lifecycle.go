package app

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// lifecyclePage is the data of the page of a lifecycle.
type lifecyclePage struct {
	frame
	Name    string
	Version int
	Hash    string
	Drawing template.HTML
	States  []stateRow
	Since   time.Time // the moves are counted from then on; zero: none was seen
	Others  []choice
	Total   int // open instances
	Ended   int
}

// stateRow is a state of the table that has the drawing's text form.
type stateRow struct {
	Name, About, Owner string
	Kind               workflow.Kind
	Look               look
	Count              int // that are open in it, or ended in it
	URL                string
	Oldest             time.Time
	Stay               string // the usual one
	Moves              []moveRow
}

// moveRow is a permitted move.
type moveRow struct {
	To    string
	Times int
	Stay  string
	Added bool
}

// spread is where the instances of a lifecycle are.
type spread struct {
	count  int
	oldest time.Time
	look   look
}

// stand returns where the instances of a lifecycle are: the open ones, and in final states the
// ended ones.
func stand(all []*row, name string) (at map[string]spread, open, ended int) {
	at = map[string]spread{}
	for _, r := range all {
		if r.Workflow != name {
			continue
		}
		if r.Closed != "" {
			ended++
			if r.Kind != workflow.Final {
				continue
			}
		} else {
			open++
		}
		s := at[r.State]
		if s.count++; s.oldest.IsZero() || r.Entered.Before(s.oldest) {
			s.oldest = r.Entered
		}
		s.look = stateLook(r, s.look)
		at[r.State] = s
	}
	return at, open, ended
}

// makeLifecycle makes the page of a lifecycle from all rows and the moves that were seen.
func makeLifecycle(def *workflow.Definition, rows []*row, moves map[[2]string]moved, since, now time.Time) lifecyclePage {
	at, open, ended := stand(rows, def.Name)
	p := lifecyclePage{Name: def.Name, Version: def.Version, Hash: def.Hash, Since: since, Total: open, Ended: ended}
	marks := workflow.Marks{Label: fmt.Sprintf("Diagram of the lifecycle %s with %s; the table after it has the same as text", def.Name, view.Count(open, "open instance")),
		States: map[string]workflow.StateMark{}, Moves: map[[2]string]workflow.MoveMark{}}
	for _, state := range def.States {
		s := at[state.Name]
		r := stateRow{Name: state.Name, About: state.About, Owner: state.Owner, Kind: state.Kind, Count: s.count, Oldest: s.oldest, Look: s.look,
			URL: filter{Workflow: def.Name, State: state.Name, Closed: state.Kind == workflow.Final}.url()}
		var stays []time.Duration
		for _, t := range state.Next {
			m := moves[[2]string{state.Name, t.To}]
			stays = append(stays, m.stays...)
			one := moveRow{To: t.To, Times: m.Times, Added: t.Added != ""}
			if m.Times > 0 {
				one.Stay = stay(m.Stay())
				marks.Moves[[2]string{state.Name, t.To}] = workflow.MoveMark{Label: strings.TrimSpace(times(m.Times) + " " + one.Stay),
					Title: fmt.Sprintf("made %d×, usually after %s", m.Times, term.Duration(m.Stay()))}
			}
			r.Moves = append(r.Moves, one)
		}
		r.Stay = stay(median(stays))
		p.States = append(p.States, r)
		marks.States[state.Name] = stateMark(r, now)
	}
	p.Drawing = template.HTML(workflow.SVGOf(def, marks)) //nolint:gosec // workflow escapes each text
	return p
}

// stateMark is how the drawing shows a state.
func stateMark(r stateRow, now time.Time) workflow.StateMark {
	m := workflow.StateMark{Link: r.URL, Title: "no instance"}
	if r.Count == 0 {
		return m
	}
	m.Class, m.Count, m.Title = "lit "+r.Look.Class, fmt.Sprint(r.Count), view.Count(r.Count, "instance")+", "+r.Look.Word
	if r.Kind != workflow.Final {
		age := term.Duration(now.Sub(r.Oldest))
		m.Says, m.Title = strings.TrimPrefix(r.Owner+" · ", " · ")+age, m.Title+", the oldest for "+age
	}
	return m
}

// stay formats a stay for a drawing: the first unit of its duration.
func stay(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < time.Second:
		return "<1s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// times formats a count in few characters.
func times(n int) string {
	if n < 1000 {
		return fmt.Sprintf("%d×", n)
	}
	return fmt.Sprintf("%dk×", n/1000)
}

// lifecycleURL returns the address of a lifecycle's page.
func lifecycleURL(name string) string { return (&url.URL{Path: "/lifecycles/" + name}).String() }

// lifecycles leads to the lifecycle that has the most open instances.
func (c *Console) lifecycles(w http.ResponseWriter, r *http.Request, _ *session) {
	counts := map[string]int{"issue": 0}
	for _, one := range c.cache.snapshot().rows {
		if one.Closed == "" {
			counts[one.Workflow]++
		}
	}
	most := slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b string) int { return cmp.Compare(counts[a], counts[b]) })
	http.Redirect(w, r, lifecycleURL(most), http.StatusSeeOther)
}

// lifecycle shows a lifecycle, and where its instances stand.
func (c *Console) lifecycle(w http.ResponseWriter, r *http.Request, s *session) {
	name := r.PathValue("name")
	def, all, err := c.cache.named(r.Context(), name)
	if err != nil {
		c.unanswered(w, r, s, err)
		return
	}
	snap := c.cache.snapshot()
	moves, since := c.cache.flow.of(name)
	p := makeLifecycle(def, snap.rows, moves, since, c.now())
	p.frame = c.frame(s, "Lifecycle "+name, "lifecycles")
	p.Seq, p.Waiting = snap.seq, snap.waits
	for _, other := range all {
		_, open, _ := stand(snap.rows, other)
		p.Others = append(p.Others, choice{Text: other, URL: lifecycleURL(other), Chosen: other == name, Count: open})
	}
	c.pages.show(w, http.StatusOK, "lifecycle", p)
}
