package instance_test

import (
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// answer is what the model makes of a command: what to keep, or why not.
func (m model) answer(cmd instance.Command) (taken, instance.Code) {
	if why := m.refuses(cmd); why != "" {
		return taken{}, why
	}
	t := taken{Command: cmd}
	switch a := cmd.Do.(type) {
	case instance.Report:
		return m.judge(t, a.Result)
	case instance.Signal:
		return m.hear(t, a)
	case instance.Override:
		t.to = a.To
	case instance.Fail:
		bears, ok := m.def.Policy["max_faults"].(int64)
		if !ok {
			bears = 20
		}
		t.stops = int64(m.with(t).faults()) >= bears
	}
	return t, ""
}

// refuses looks at everything but where the command would lead.
func (m model) refuses(cmd instance.Command) instance.Code {
	if cmd.ID == "" || cmd.Instance == "" || cmd.Do == nil {
		return instance.Invalid
	}
	if open, ok := cmd.Do.(instance.Open); ok {
		return verdict(check{len(m.log) > 0, instance.Exists}, check{open.Issue.Title == "", instance.Invalid})
	}
	if len(m.log) == 0 {
		return instance.Unknown
	}
	switch a := cmd.Do.(type) {
	case instance.Remark:
		return ""
	case instance.Signal:
		return verdict(check{a.Name == "", instance.Invalid})
	}
	if m.closed() != "" {
		return instance.Over
	}
	switch a := cmd.Do.(type) {
	case instance.Take:
		return verdict(
			check{m.paused(), instance.OnHold},
			check{a.Role == "" || a.Agent == "" || a.Lease <= 0, instance.Invalid},
			check{a.Role != m.row().Owner, instance.NotOwner},
			check{a.Work != m.work(), instance.Stale},
			check{m.live(cmd.At), instance.Held})
	case instance.Heartbeat:
		return verdict(check{a.Lease <= 0, instance.Invalid}, check{true, m.fenced(a.Token, cmd.At)})
	case instance.Report:
		return verdict(check{true, m.fenced(a.Token, cmd.At)}, check{!sound(a.Result), instance.Invalid})
	case instance.Release:
		return m.fenced(a.Token, cmd.At)
	case instance.Fail:
		return m.fenced(a.Token, cmd.At)
	case instance.Ask:
		return verdict(check{true, m.fenced(a.Token, cmd.At)}, check{a.Text == "", instance.Invalid})
	case instance.Charge:
		return verdict(check{true, m.fenced(a.Token, cmd.At)}, check{!payable(a.Spend), instance.Invalid})
	case instance.Reply:
		return verdict(check{!slices.Contains(m.open(), a.Number), instance.Invalid})
	case instance.Override:
		return verdict(check{!slices.Contains(m.def.StateNames(), a.To) || a.Reason == "", instance.Invalid})
	case instance.Pause:
		return verdict(check{m.paused(), instance.OnHold})
	case instance.Resume:
		return verdict(check{!m.paused(), instance.Invalid})
	case instance.Retry:
		return verdict(check{m.paused(), instance.OnHold}, check{m.row().Owner == "", instance.Invalid}, check{m.live(cmd.At), instance.Held})
	}
	return ""
}

// check is one reason to refuse; it has none if why is empty.
type check struct {
	holds bool
	why   instance.Code
}

// verdict is the first reason there is.
func verdict(checks ...check) instance.Code {
	for _, c := range checks {
		if c.holds && c.why != "" {
			return c.why
		}
	}
	return ""
}

func (m model) fenced(token uint64, at time.Time) instance.Code {
	if m.paused() {
		return instance.OnHold
	}
	return verdict(check{!m.live(at) || m.claim().Token != token, instance.Lapsed})
}

func sound(r instance.Result) bool {
	known := slices.Contains([]instance.Status{"success", "failure", "blocked"}, r.Status)
	return known && 0 <= r.ConfidenceScore && r.ConfidenceScore <= 1 && !slices.Contains(r.Questions, "") && payable(r.Spend)
}

func payable(s instance.Spend) bool {
	return s.TokensIn >= 0 && s.TokensOut >= 0 && s.WallMS >= 0 && s.USD >= 0 && s.USD < 1e300
}

func (m model) judge(t taken, r instance.Result) (taken, instance.Code) {
	row, facts := m.row(), m.with(t).facts()
	if row.Proposes && slices.Contains(reach(row), r.Next) {
		return m.travel(t, facts, []string{r.Next})
	}
	rule, code := pick(row.Decide, facts)
	if rule == nil && code == "" {
		code = instance.Undecided
	}
	if code != "" {
		return taken{}, code
	}
	return m.travel(t, facts, rule.To)
}

func (m model) hear(t taken, a instance.Signal) (taken, instance.Code) {
	if m.closed() != "" {
		return t, ""
	}
	facts := m.with(t).facts()
	rule, code := pick(m.row().On[a.Name], facts)
	if rule == nil || code != "" {
		return t, code
	}
	return m.travel(t, facts, rule.To)
}

// pick returns the first rule that holds, or none.
func pick(rules []workflow.Rule, facts workflow.Facts) (*workflow.Rule, instance.Code) {
	for _, r := range rules {
		if holds, err := r.When.Eval(facts); err != nil {
			return nil, instance.Undecided
		} else if holds {
			return &r, ""
		}
	}
	return nil, ""
}

// travel finds where the instance gets when it sets out for the first of the
// candidates: gates turn it aside, limits end it.
func (m model) travel(t taken, facts workflow.Facts, candidates []string) (taken, instance.Code) {
	row := m.row()
	if t.to = first(row, candidates); t.to == "" {
		return taken{}, instance.NotPermitted
	}
	for _, g := range m.def.Gates {
		if !slices.Contains(g.To, t.to) {
			continue
		}
		open, err := g.Require.Eval(facts)
		if !open && err == nil {
			t.to = first(row, g.Instead)
		}
		if err != nil || t.to == "" {
			return taken{}, instance.Undecided
		}
	}
	there := m.with(t)
	if there.row().Kind == workflow.Final {
		return t, ""
	}
	facts.Instance = there.facts().Instance
	for _, l := range m.def.Limits {
		holds, err := l.When.Eval(facts)
		if err != nil {
			return taken{}, instance.Undecided
		}
		if to := first(row, l.To); holds && to != "" {
			t.to = to
			return t, ""
		}
	}
	return t, ""
}

func reach(row workflow.State) []string {
	var to []string
	for _, t := range row.Next {
		to = append(to, t.To)
	}
	return to
}

func first(row workflow.State, candidates []string) string {
	for _, c := range candidates {
		if slices.Contains(reach(row), c) {
			return c
		}
	}
	return ""
}

// facts is what guards may know once the newest command is taken.
func (m model) facts() workflow.Facts {
	_, head := m.commits()
	report, spend := m.log[0].Do.(instance.Open).Issue, m.spend()
	f := workflow.Facts{
		Evidence: map[string]workflow.EvidenceFacts{},
		Instance: workflow.InstanceFacts{
			State: m.row().Name, Iteration: int64(len(m.previous())), Returns: int64(m.returns()), Visits: map[string]int64{}, Previous: m.previous(),
			Loop: m.loops(), Repeats: int64(m.failure().Repeats), Head: head, OpenQuestions: int64(len(m.open())),
		},
		Issue: workflow.IssueFacts{Title: report.Title, Body: report.Body, Labels: report.Labels, Author: report.Author},
		Spend: workflow.SpendFacts{Tokens: spend.TokensIn + spend.TokensOut, USD: spend.USD, WallMS: spend.WallMS},
	}
	for state, n := range m.visits() {
		f.Instance.Visits[state] = int64(n)
	}
	for name, e := range m.evidence() {
		f.Evidence[name] = workflow.EvidenceFacts{OK: e.OK, Commit: e.Commit, Failed: e.Failed}
	}
	if all := m.results(); len(all) > 0 {
		r := all[len(all)-1]
		f.Result = workflow.ResultFacts{Status: string(r.Status), ConfidenceScore: r.ConfidenceScore, IssuesFound: r.IssuesFound,
			Questions: r.Questions, Next: r.Next, FailureSignature: r.FailureSignature, Data: r.Data}
	}
	newest := m.log[len(m.log)-1]
	if s, ok := newest.Do.(instance.Signal); ok {
		f.Signal = workflow.SignalFacts{Name: s.Name, Actor: newest.Actor, Data: s.Data}
	}
	return f
}
