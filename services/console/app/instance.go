package app

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/standing"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// maxEvents is how many events of the timeline one page has.
const maxEvents = 100

// instancePage is the data of the page of an instance.
type instancePage struct {
	frame
	In      view.Instance
	Row     boardRow
	Links   []choice // on the forge
	E       view.Explanation
	Unread  string // why its lifecycle cannot be read; empty: it can
	Forms   forms
	Drawing template.HTML
	Changes []choice // diffs of the whole change, and of each attempt; none: nobody has changed the code
	Visits  []visit
	Events  []event
	Earlier string // address of what is before Events
	Later   string
	Costs   []cost
	Total   string
	Rules   []ruleSet
	Differ  []string // how its tests differ from those of the base
	Asked   []instance.Question
	Demo    *instance.Demo // nil: there is none
	Slider  slider
	Output  *liveOutput // nil: nobody works on it, or in the past
}

// event is one event of the timeline.
type event struct {
	view.Event
	Headline string
	Class    string
	Took     string // time in the state that it left
	First    bool   // of its commit, so that a link to the sequence leads to it
}

// cost is what the work of a role in a state has cost.
type cost struct {
	State, Role string
	Steps       int
	Time        string
	Tokens      string
	USD         string
}

// ruleSet is the rules of one kind, with the values that they read now.
type ruleSet struct {
	Name  string
	Rules []rule
}

type rule struct{ Name, To, Reason, When, Values, Holds string }

// makeInstance makes the page of an instance from its history. before is the sequence that its
// timeline ends before; 0: it ends now.
func makeInstance(env *term.Env, in view.Instance, def *workflow.Definition, records []*pb.Record, before uint64) instancePage {
	r := rowOfWhole(in)
	p := instancePage{In: in, Row: boardRow{row: r, URL: instanceURL(in.Instance), Look: r.look(), Late: r.late(env.Now())},
		Links: forgeLinks(in), Differ: in.Differences(), Asked: in.Questions, Demo: demoOf(in)}
	commits := view.Commits(records)
	events := timeline(view.History(in.Instance, records))
	path := pathOf(in, events)
	end := len(events)
	if before > 0 {
		end, _ = slices.BinarySearchFunc(events, before, func(e event, seq uint64) int { return cmp.Compare(e.Seq, seq) })
	}
	from := max(0, end-maxEvents)
	if p.Events = events[from:end]; from > 0 {
		p.Earlier = fmt.Sprintf("%s?before=%d#timeline", p.Row.URL, events[from].Seq)
	}
	if end < len(events) {
		p.Later = p.Row.URL + "#timeline"
	}
	attempts, head := 0, in.Base
	for _, b := range in.Bundles {
		if b.Head != head {
			attempts, head = attempts+1, b.Head
		}
	}
	if attempts > 0 {
		p.Changes = tabs("/diff"+strings.TrimPrefix(p.Row.URL, "/i"), attempts, -1)
	}
	p.Visits = visits(events, in.Closed != "", env.Now())
	p.Costs, p.Total = costs(in, commits), costOf(in.Spend)
	if def == nil {
		p.E.Why, p.E.Help = view.Why(env, in)
		return p
	}
	p.E = view.Explain(env, def, in)
	p.Drawing = template.HTML(workflow.SVGOf(def, path)) //nolint:gosec // workflow escapes each text
	for _, of := range []ruleSet{{"Gates", ruled(p.E.Gates)}, {"Limits", ruled(p.E.Limits)}, {"By itself", ruled(p.E.Always)},
		{"On a result", ruled(p.E.Rules)}, {"On a signal", ruled(p.E.Signals)}} {
		if len(of.Rules) > 0 {
			p.Rules = append(p.Rules, of)
		}
	}
	return p
}

// pathOf marks the states that an instance was in, and the moves that it made.
func pathOf(in view.Instance, events []event) workflow.Marks {
	marks := workflow.Marks{Label: "Diagram of the lifecycle with the path of the instance; the timeline has the same as text",
		States: map[string]workflow.StateMark{in.State: {Class: "here " + rowOfWhole(in).look().Class, Title: "here"}}, Moves: map[[2]string]workflow.MoveMark{}}
	made, stays := map[[2]string]int{}, map[[2]string]time.Duration{}
	var entered time.Time
	for _, e := range events {
		switch e.Event.Event {
		case "opened":
			entered = e.Time
		case "moved":
			key := [2]string{e.From, e.To}
			made[key]++
			stays[key] += e.Time.Sub(entered)
			if entered = e.Time; e.From != in.State {
				marks.States[e.From] = workflow.StateMark{Class: "left", Title: "was here"}
			}
		}
	}
	for key, n := range made {
		marks.Moves[key] = workflow.MoveMark{Label: times(n) + " " + stay(stays[key]), Title: fmt.Sprintf("made %d×, after %s in all", n, term.Duration(stays[key]))}
	}
	return marks
}

func ruled(all []standing.Rule) (rules []rule) {
	for _, r := range all {
		to := strings.Join(r.To, " or ")
		switch {
		case r.People:
			to = "people are asked"
		case r.Stays != "":
			to = "stays, and looks again: " + r.Stays
		}
		var values []string
		for _, key := range slices.Sorted(maps.Keys(r.Values)) {
			values = append(values, fmt.Sprintf("%s is %v", key, r.Values[key]))
		}
		holds := r.Fault
		if r.Holds != nil {
			holds = map[bool]string{true: "✓ yes", false: "no"}[*r.Holds]
		}
		rules = append(rules, rule{r.Name, to, r.Reason, r.When, strings.Join(values, "\n"), holds})
	}
	return rules
}

// timeline keeps the events that people want to read.
func timeline(all []view.Event) (events []event) {
	var entered time.Time
	for _, e := range all {
		shown := event{Event: e, Headline: strings.ReplaceAll(e.Name(), "_", " "), Class: "plain"}
		switch e.Event {
		case "lease_extended", "dispatched", "spent":
			continue
		case "opened":
			shown.Headline, shown.Class, entered = "opened in "+e.To, "move", e.Time
		case "moved":
			shown.Headline, shown.Class, shown.Took, entered = e.From+" → "+e.To, "move", term.Duration(e.Time.Sub(entered)), e.Time
		case "claimed":
			shown.Headline = "claimed by " + cmp.Or(e.Agent, e.Role)
		case "asked", "escalated", "paused", "gate_refused", "proposal_refused", "statement_refused", "loop_detected":
			shown.Class = "people"
		}
		if e.Failure || e.Fault || e.Event == "cancelled" {
			shown.Class = "failed"
		}
		shown.First = len(events) == 0 || events[len(events)-1].Seq != e.Seq
		events = append(events, shown)
	}
	return events
}

// maxVisits is how many of the newest stays a page has bars of.
const maxVisits = 60

// visit is a stay in a state, with its bar: from its beginning to its end, in percent of the whole
// time.
type visit struct {
	State, Class, Who, Took string
	Seq                     uint64 // of the event that began it
	At, Work, Width         string // Work: where an agent took the work
	Worked                  string // width from there
}

// visits returns the newest stays in states. An agent's part of a stay begins with its first claim.
func visits(events []event, ended bool, now time.Time) (all []visit) {
	type stay struct {
		visit
		from, taken, to time.Time
	}
	var stays []stay
	for _, e := range events {
		switch last := len(stays) - 1; e.Event.Event {
		case "opened", "moved":
			if last >= 0 {
				stays[last].to = e.Time
			}
			class := map[string]string{"wait": "people", "final": "done"}[e.Kind]
			stays = append(stays, stay{visit: visit{State: e.To, Class: cmp.Or(class, "work"), Seq: e.Seq}, from: e.Time})
		case "claimed":
			if last >= 0 && stays[last].taken.IsZero() {
				stays[last].taken, stays[last].Who = e.Time, cmp.Or(e.Agent, e.Role)
			}
		}
	}
	stays = stays[max(0, len(stays)-maxVisits):]
	if len(stays) == 0 {
		return nil
	}
	if last := &stays[len(stays)-1]; !ended {
		last.to = now
	} else {
		last.to = last.from
	}
	whole := max(stays[len(stays)-1].to.Sub(stays[0].from), time.Millisecond)
	percent := func(d time.Duration) string { return fmt.Sprintf("%.2f%%", 100*float64(max(d, 0))/float64(whole)) }
	for _, s := range stays {
		s.At, s.Width, s.Took = percent(s.from.Sub(stays[0].from)), percent(max(s.to.Sub(s.from), whole/250)), term.Duration(s.to.Sub(s.from))
		if !s.taken.IsZero() {
			s.Work, s.Worked = percent(s.taken.Sub(stays[0].from)), percent(max(s.to.Sub(s.taken), whole/250))
		}
		all = append(all, s.visit)
	}
	return all
}

// forgeLinks returns the issue and the pull request on the forge.
func forgeLinks(in view.Instance) (links []choice) {
	of := in.Issue
	if of.URL == "" {
		return nil
	}
	links = append(links, choice{Text: fmt.Sprintf("%s#%d", of.Repo, of.Number), URL: of.URL})
	if n, err := strconv.Atoi(in.Vars["prNumber"]); err == nil && n > 0 {
		if at, ok := strings.CutSuffix(of.URL, fmt.Sprintf("/issues/%d", of.Number)); ok {
			links = append(links, choice{Text: fmt.Sprintf("pull request #%d", n), URL: fmt.Sprintf("%s/pull/%d", at, n)})
		}
	}
	return links
}

// costs sums the steps by state and role, in the order of their first step.
func costs(in view.Instance, commits []instance.Commit) (all []cost) {
	type key struct{ state, role string }
	type sum struct {
		steps int
		spend instance.Cost
		took  time.Duration
	}
	sums, orderOf := map[key]*sum{}, []key{}
	var steps view.Steps
	for _, commit := range commits {
		for _, step := range steps.Next(in.Instance, commit) {
			k := key{step.State, step.Role}
			if sums[k] == nil {
				sums[k], orderOf = new(sum), append(orderOf, k)
			}
			s := sums[k]
			s.steps++
			s.took += time.Duration(step.TookS * float64(time.Second))
			spend := step.Result.Spend
			s.spend.TokensIn, s.spend.TokensOut, s.spend.USD = s.spend.TokensIn+spend.TokensIn, s.spend.TokensOut+spend.TokensOut, s.spend.USD+spend.USD
		}
	}
	for _, k := range orderOf {
		s := sums[k]
		c := cost{State: k.state, Role: k.role, Steps: s.steps, Time: term.Duration(s.took)}
		if s.spend.TokensIn+s.spend.TokensOut > 0 {
			c.Tokens = fmt.Sprintf("%d in, %d out", s.spend.TokensIn, s.spend.TokensOut)
		}
		if s.spend.USD > 0 {
			c.USD = fmt.Sprintf("$%.2f", s.spend.USD)
		}
		all = append(all, c)
	}
	return all
}

// costOf is the cost in a column: the money, or else the tokens.
func costOf(s view.Spend) string {
	switch {
	case s.USD > 0:
		return fmt.Sprintf("$%.2f", s.USD)
	case s.TokensIn+s.TokensOut > 0:
		return fmt.Sprintf("%d tokens", s.TokensIn+s.TokensOut)
	}
	return ""
}

// whyOf is the reason that an instance does not move, for a row.
func whyOf(env *term.Env, in view.Instance) string {
	why, _ := view.Why(env, in)
	return term.Cut(term.Line(why), maxTitle)
}

// refusal is a form that did nothing, and its fields as they were sent.
type refusal struct {
	Status   int
	Instance string
	Why      string
	Sent     url.Values
}

// forms are the forms about an instance.
type forms struct {
	ID, State, Back string
	Moves           int
	Questions       []asksPeople
	Held            *instance.Escalation // open, that people resolve
	Answer          bool                 // it waits for an answer
	Text            string               // of the answer, as it was sent
	Reason          string
	Approve, Pause  bool
	Resume, Retry   bool
	Cancel          bool
	States          []string // that an override can name; none: the lifecycle is not known
	To, Amount      string   // of an override and a raise, as they were sent
	Refused         string
	Reads           bool // the account may do none of it
}

// makeForms returns the forms that the state of an instance has. def may be nil.
func makeForms(in view.Instance, def *workflow.Definition, back string, reads bool, no refusal) forms {
	f := forms{ID: in.Instance, State: in.State, Back: back, Moves: in.Iteration, Reads: reads}
	if in.Closed != "" {
		return f
	}
	if no.Instance == in.Instance {
		f.Refused, f.Text, f.Reason, f.To, f.Amount = no.Why, no.Sent.Get("text"), no.Sent.Get("reason"), no.Sent.Get("to"), no.Sent.Get("amount")
	}
	f.Questions = answerable(in, no)
	if held, ok := in.Held(); ok {
		f.Held = &held
	}
	f.Answer = f.Held != nil || in.Kind == workflow.Wait && in.Worker == ""
	if !f.Answer {
		f.Questions = nil // nobody waits for them yet
	}
	if def != nil {
		state, _ := def.State(in.State)
		_, f.Approve = state.On["approved"]
		for _, s := range def.States {
			if s.Name != in.State {
				f.States = append(f.States, s.Name)
			}
		}
	}
	f.Pause, f.Resume, f.Cancel = !in.Paused, in.Paused, true
	f.Retry = in.Kind == workflow.Work && !in.Paused
	return f
}

// instance shows an instance, with a form that was refused, if one was.
func (c *Console) instance(w http.ResponseWriter, r *http.Request, s *session, no refusal) {
	id := r.PathValue("id")
	if err := subject.CheckInstance(id); err != nil {
		c.fault(w, r, s, http.StatusNotFound, "There is no instance of this name: "+err.Error())
		return
	}
	in, err := c.cache.get(r.Context(), id)
	if err != nil {
		c.unanswered(w, r, s, err)
		return
	}
	records, err := c.cache.records(r.Context(), in)
	if err != nil {
		c.unanswered(w, r, s, err)
		return
	}
	newest, env, all := in.Seq, c.env(), records
	seq, _ := strconv.ParseUint(r.URL.Query().Get("seq"), 10, 64)
	slider := makeSlider(instanceURL(id), records, seq)
	if slider.Past {
		in, records = slider.then(id, records)
		env.Now = func() time.Time { return slider.At } // durations count up to then
	}
	def, unread := c.cache.definition(r.Context(), in)
	if seq > 0 {
		slider.explain(env, def, id, all)
	}
	before, _ := strconv.ParseUint(r.URL.Query().Get("before"), 10, 64)
	if at, err := strconv.ParseUint(r.URL.Query().Get("at"), 10, 64); err == nil && at+maxEvents/2 < in.Seq {
		before = at + maxEvents/2 // so that the event is on the page
	}
	p := makeInstance(env, in, def, records, before)
	if p.Slider = slider; !slider.Past {
		p.Output = c.output(r.Context(), id)
	}
	if unread != nil {
		p.Unread = unread.Error()
	}
	p.frame = c.frame(s, in.Instance, "")
	p.Watch, p.Seq, p.Waiting = id, newest, c.cache.waiting()
	p.Forms = makeForms(in, def, p.Row.URL, p.Reads, no)
	p.Refused = no.Why
	c.pages.show(w, cmp.Or(no.Status, http.StatusOK), "instance", p)
}
