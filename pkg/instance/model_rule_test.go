package instance_test

import (
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

func (m *model) holds(g workflow.Guard, facts workflow.Facts) bool {
	holds, err := g.Eval(facts)
	if err != nil {
		m.fail(instance.CodeUndecided)
	}
	return holds && m.why == ""
}

// first returns the first rule that holds, or none.
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
	if rule := m.first(m.row().On[name], facts); rule != nil {
		m.carry(*rule, facts, false)
		return
	}
	m.settle(false)
}

// carry does what a rule says, of a result or of something else.
func (m *model) carry(rule workflow.Rule, facts workflow.Facts, result bool) {
	if rule.To != nil {
		m.travel(rule, facts, result)
		if m.asked() > 0 {
			m.claim = nil
		}
		m.settle(m.claim == nil)
		return
	}
	m.remember(rule.Set)
	if rule.Escalate {
		if m.held() == 0 {
			m.escalate(true)
		}
		return
	}
	owners := m.worker() != "" && m.asked() == 0
	switch now := rule.Stay.After == 0; {
	case owners && m.live() && now:
		m.woken = true
	case owners && !m.live() && (now || m.woken):
		m.settle(true)
		return
	case owners && !m.live():
		m.park(rule, false)
	}
	m.settle(false)
}

func (m *model) park(rule workflow.Rule, standing bool) {
	m.parked = &instance.Parked{Standing: standing}
	if rule.Stay.After > 0 {
		m.parked.Until = m.now.Add(rule.Stay.After)
	}
}

// travel finds where the instance gets when it sets out for what a rule says:
// gates turn it aside, limits end it.
func (m *model) travel(rule workflow.Rule, facts workflow.Facts, result bool) {
	row := m.row()
	to := m.reachable(rule.To)
	if to == "" {
		m.fail(instance.CodeNotPermitted)
		return
	}
	for _, g := range m.def.Gates {
		if !slices.Contains(g.To, to) || m.holds(g.Require, facts) {
			continue
		}
		if to = m.reachable(g.Instead); to == "" {
			m.fail(instance.CodeUndecided)
			return
		}
		rule = workflow.Rule{Failure: rule.Failure || result}
	}
	there := m.move(rule, to)
	if there.row().Kind != workflow.Final {
		then := there.facts()
		facts.Instance, facts.Vars = then.Instance, then.Vars
		facts.Instance.Failures = int64(there.failures[row.Name])
		for _, l := range m.def.Limits {
			to := m.reachable(l.To)
			if !m.holds(l.When, facts) || to == "" && !l.Escalate {
				continue
			}
			if l.Escalate {
				there.remember(l.Set)
				if there.held() == 0 {
					there.escalate(true)
				}
			} else {
				l.Failure = true
				there = m.move(l, to)
			}
			break
		}
	}
	why := m.why
	*m = *there
	m.fail(why)
	m.greet()
}

// move is the model in another state.
func (m *model) move(rule workflow.Rule, to string) *model {
	left, n := m.row().Name, m.failures[m.row().Name]
	there := m.copy()
	there.remember(rule.Set)
	claim := there.claim
	there.enter(to)
	if claim != nil && m.takes && claim.Role == there.row().Owner {
		there.claim = claim
	}
	delete(there.failures, left)
	if rule.Failure {
		there.failures[left] = n + 1
	}
	if rule.ResetsFailures {
		there.failures = map[string]int{}
	}
	return there
}

func (m *model) enter(state string) {
	waited := m.row().Kind == workflow.Wait
	m.path = append(m.path, state)
	if waited {
		m.fresh = len(m.path)
	}
	m.loop, m.ended = m.loops(), m.row().Kind == workflow.Final
	m.entered, m.since, m.level, m.faults = m.seq, m.now, "", 0
	m.parked, m.woken, m.claim = nil, false, nil
	for i, q := range m.questions {
		m.questions[i].open = q.open && q.to == ""
	}
}

// greet opens and asks what the state opens and asks on entry.
func (m *model) greet() {
	for _, s := range m.row().Spawns {
		if m.holds(s.When, m.facts()) {
			id := "acme/widgets/42/" + s.Workflow
			for n := 2; slices.ContainsFunc(m.links, func(l instance.Link) bool { return l.Instance == id }); n++ {
				id = fmt.Sprintf("acme/widgets/42/%s-%d", s.Workflow, n)
			}
			m.links = append(m.links, instance.Link{Instance: id, Kind: instance.Child, Workflow: s.Workflow, State: s.State})
		}
	}
	for _, q := range m.row().Asks {
		if m.holds(q.When, m.facts()) {
			m.questions = append(m.questions, question{q.To, true})
		}
	}
}

// settle does what the state always says, and gives the work to whose turn it is.
func (m *model) settle(wake bool) {
	for hop := 0; hop < 16 && !m.paused && m.closed() == "" && m.held() == 0 && m.asked() == 0 && !m.live() && m.why == ""; hop++ {
		var rules []workflow.Rule
		for _, r := range m.row().Always {
			if !m.people || !r.Escalate {
				rules = append(rules, r)
			}
		}
		rule := m.first(rules, m.facts())
		if rule == nil {
			wake = wake || m.parked != nil && m.parked.Standing
			break
		}
		if rule.To != nil {
			m.travel(*rule, m.facts(), false)
			wake = true
			continue
		}
		m.remember(rule.Set)
		switch {
		case rule.Escalate:
			m.escalate(true)
		case rule.Stay.After == 0:
			if wake || m.parked != nil {
				m.give()
			}
		case m.worker() != "" && (wake || m.parked == nil):
			m.park(*rule, true)
		}
		return
	}
	if wake {
		m.give()
	}
}

// give gives the work to whose turn it is.
func (m *model) give() {
	if m.worker() != "" && !m.paused && m.closed() == "" {
		m.work, m.direct, m.parked, m.woken = m.seq, false, nil, false
	}
}

func reach(row workflow.State) []string {
	var to []string
	for _, t := range row.Next {
		to = append(to, t.To)
	}
	return to
}

// places is the candidates, the newest other state it was in for $previous.
func (m *model) places(candidates []string) []string {
	var to []string
	for _, c := range candidates {
		for i := len(m.path) - 1; c == "$previous" && i >= 0; i-- {
			if m.path[i] != m.row().Name {
				c = m.path[i]
			}
		}
		to = append(to, c)
	}
	return to
}

// reachable is the first of the candidates that the table has.
func (m *model) reachable(candidates []string) string {
	for _, c := range m.places(candidates) {
		if slices.Contains(reach(m.row()), c) {
			return c
		}
	}
	return ""
}
