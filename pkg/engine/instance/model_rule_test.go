package instance_test

import (
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func (m *model) holds(g workflow.Guard, facts workflow.Facts) bool {
	holds, err := g.Eval(facts)
	if err != nil {
		m.fail(instance.CodeUndecided)
	}
	return holds && m.refusal == ""
}

// first returns the first rule that holds, or nil.
func (m *model) first(rules []workflow.Rule, facts workflow.Facts) *workflow.Rule {
	for _, r := range rules {
		if m.holds(r.When, facts) {
			return &r
		}
	}
	return nil
}

func (m *model) react(actor, name string, data map[string]string) {
	facts := m.facts()
	facts.Signal = workflow.SignalFacts{Name: name, Actor: actor, Data: data}
	if rule := m.first(m.state().On[name], facts); rule != nil {
		m.execute(*rule, facts, false)
		return
	}
	m.runAlways(false)
}

// execute carries out a rule. result marks the rule of a report.
func (m *model) execute(rule workflow.Rule, facts workflow.Facts, result bool) {
	if rule.To != nil {
		m.transition(rule, facts, result)
		if m.openInquiry() > 0 {
			m.claim = nil
		}
		m.runAlways(m.claim == nil)
		return
	}
	m.setVars(rule.Set)
	if rule.Escalate {
		if m.openEscalation() == 0 {
			m.escalate(true)
		}
		return
	}
	owners := m.worker() != "" && m.openInquiry() == 0
	switch now := rule.Stay.After == 0; {
	case owners && m.live() && now:
		m.woken = true
	case owners && !m.live() && (now || m.woken):
		m.runAlways(true)
		return
	case owners && !m.live():
		m.park(rule, false)
	}
	m.runAlways(false)
}

func (m *model) park(rule workflow.Rule, standing bool) {
	m.parked = &instance.Parked{Standing: standing}
	if rule.Stay.After > 0 {
		m.parked.Until = m.now.Add(rule.Stay.After)
	}
}

// transition moves the instance to a rule's target. Gates and limits may change
// the target.
func (m *model) transition(rule workflow.Rule, facts workflow.Facts, result bool) {
	row := m.state()
	to := m.firstPermitted(rule.To)
	if to == "" {
		m.fail(instance.CodeNotPermitted)
		return
	}
	for _, g := range m.def.Gates {
		if !slices.Contains(g.To, to) || m.holds(g.Require, facts) {
			continue
		}
		if to = m.firstPermitted(g.Instead); to == "" {
			m.fail(instance.CodeUndecided)
			return
		}
		rule = workflow.Rule{Failure: rule.Failure || result}
	}
	after := m.move(rule, to)
	if after.state().Kind != workflow.Final {
		moved := after.facts()
		facts.Instance, facts.Vars = moved.Instance, moved.Vars
		facts.Instance.Failures = int64(after.failures[row.Name])
		for _, l := range m.def.Limits {
			to := m.firstPermitted(l.To)
			if !m.holds(l.When, facts) || to == "" && !l.Escalate {
				continue
			}
			if l.Escalate {
				after.setVars(l.Set)
				if after.openEscalation() == 0 {
					after.escalate(true)
				}
			} else {
				l.Failure = true
				after = m.move(l, to)
			}
			break
		}
	}
	why := m.refusal
	*m = *after
	m.fail(why)
	m.onEntry()
}

// move returns the model in another state.
func (m *model) move(rule workflow.Rule, to string) *model {
	left, n := m.state().Name, m.failures[m.state().Name]
	next := m.copy()
	next.setVars(rule.Set)
	claim := next.claim
	next.enter(to)
	if claim != nil && m.claims && claim.Role == next.state().Owner {
		next.claim = claim
	}
	next.lastFailed = rule.Failure
	if rule.Resumes && next.leftWait.State == to {
		next.since, next.level = next.leftWait.Since, next.leftWait.Level
	}
	delete(next.failures, left)
	if rule.Failure {
		next.failures[left] = n + 1
	}
	if rule.ResetsFailures {
		next.failures = map[string]int{}
	}
	return next
}

func (m *model) enter(state string) {
	waited := m.state().Kind == workflow.Wait
	if waited {
		m.leftWait = instance.LeftWait{State: m.state().Name, Since: m.since, Level: m.level}
	}
	m.path = append(m.path, state)
	if waited {
		m.returnsFrom = len(m.path)
	}
	m.loop, m.ended = m.loops(), m.state().Kind == workflow.Final
	m.entered, m.since, m.level, m.faults = m.seq, m.now, "", 0
	m.parked, m.woken, m.claim, m.lastFailed = nil, false, nil, false
	for i, q := range m.questions {
		m.questions[i].open = q.open && q.to == ""
	}
}

// onEntry opens the children and asks the questions of the state.
func (m *model) onEntry() {
	for _, s := range m.state().Spawns {
		if m.holds(s.When, m.facts()) {
			id := "acme/widgets/42/" + s.Workflow
			for n := 2; slices.ContainsFunc(m.links, func(l instance.Link) bool { return l.Instance == id }); n++ {
				id = fmt.Sprintf("acme/widgets/42/%s-%d", s.Workflow, n)
			}
			m.links = append(m.links, instance.Link{Instance: id, Kind: instance.Child, Workflow: s.Workflow, State: s.State})
		}
	}
	for _, q := range m.state().Asks {
		if m.holds(q.When, m.facts()) {
			m.questions = append(m.questions, asked{to: q.To, open: true})
		}
	}
}

// runAlways carries out the always rules and then dispatches the work.
func (m *model) runAlways(dispatch bool) {
	for hop := 0; hop < 16 && !m.paused && m.closed() == "" && m.openEscalation() == 0 && m.openInquiry() == 0 && !m.live() &&
		m.refusal == ""; hop++ {
		var rules []workflow.Rule
		for _, r := range m.state().Always {
			if !m.resolvedNow || !r.Escalate {
				rules = append(rules, r)
			}
		}
		rule := m.first(rules, m.facts())
		if rule == nil {
			dispatch = dispatch || m.parked != nil && m.parked.Standing
			break
		}
		if rule.To != nil {
			m.transition(*rule, m.facts(), false)
			dispatch = true
			continue
		}
		m.setVars(rule.Set)
		switch {
		case rule.Escalate:
			m.escalate(true)
		case rule.Stay.After == 0:
			if dispatch || m.parked != nil {
				m.dispatch()
			}
		case m.worker() != "" && (dispatch || m.parked == nil):
			m.park(*rule, true)
		}
		return
	}
	if dispatch {
		m.dispatch()
	}
}

// dispatch gives the work to the role that works next.
func (m *model) dispatch() {
	if m.worker() != "" && !m.paused && m.closed() == "" {
		m.dispatched, m.direct, m.parked, m.woken = m.seq, false, nil, false
	}
}

func targets(row workflow.State) []string {
	var to []string
	for _, t := range row.Next {
		to = append(to, t.To)
	}
	return to
}

// expandPrevious replaces $previous with the newest other state it was in.
func (m *model) expandPrevious(candidates []string) []string {
	var to []string
	for _, c := range candidates {
		for i := len(m.path) - 1; c == "$previous" && i >= 0; i-- {
			if m.path[i] != m.state().Name {
				c = m.path[i]
			}
		}
		to = append(to, c)
	}
	return to
}

// firstPermitted returns the first candidate that the table permits; "": none.
func (m *model) firstPermitted(candidates []string) string {
	for _, c := range m.expandPrevious(candidates) {
		if slices.Contains(targets(m.state()), c) {
			return c
		}
	}
	return ""
}
