package instance_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// answer is what a command, decided under def, makes of the model, or why it is refused.
func (m model) answer(def *workflow.Definition, cmd instance.Command) (model, instance.Code) {
	next := m.copy()
	next.now = cmd.At
	if why := next.refuses(def, cmd); why != "" {
		return m, why
	}
	next.seq++
	_, next.takes = cmd.Do.(instance.Claim)
	next.people = false
	if next.do(def, cmd); next.why != "" {
		return m, next.why
	}
	return *next, ""
}

// offered is what becomes of a model whose newest command may have made work for
// the agent that waits; ok says whether it gets it.
func (m model) offered(waits instance.Claim) (_ model, ok bool) {
	if m.work != m.seq || m.asked() > 0 || m.worker() != waits.Role {
		return m, false
	}
	waits.Work = m.work
	claim := instance.Command{ID: "waits", Instance: "acme/widgets/42", At: m.now, Actor: waits.Role + "/" + waits.Agent, Do: waits}
	next := m.copy()
	if next.refuses(m.def, claim) != "" {
		return m, false
	}
	next.takes, next.people, next.direct = true, false, true
	if next.do(m.def, claim); next.why != "" {
		return m, false
	}
	return *next, true
}

func (m *model) do(def *workflow.Definition, cmd instance.Command) {
	switch a := cmd.Do.(type) {
	case instance.Open:
		m.begin(a)
	case instance.Claim:
		m.tokens++
		m.claim, m.woken = &instance.ActiveClaim{Token: m.tokens, Role: a.Role, Agent: a.Agent, At: cmd.At, Lease: cmd.At.Add(a.Lease)}, false
		if m.asked() == 0 {
			m.react(cmd.Actor, "claimed", nil)
		}
	case instance.Heartbeat:
		m.claim.Lease = cmd.At.Add(a.Lease)
	case instance.Report:
		m.report(a.Result)
	case instance.Release:
		m.claim = nil
		m.settle(true)
	case instance.Fail:
		m.claim = nil
		m.faults++
		bears, ok := m.def.Policy["max_faults"].(int64)
		if !ok {
			bears = 20
		}
		if int64(m.faults) >= bears {
			m.paused = true
		}
		m.settle(false)
	case instance.Signal:
		m.hear(cmd.Actor, a)
	case instance.Ask:
		m.questions = append(m.questions, question{"", true})
	case instance.Answer:
		m.questions[a.Number-1].open = false
		m.settle(false)
	case instance.Inquire:
		m.hand(a.Head, a.Sections)
		m.claim = nil
		for _, q := range a.Questions {
			m.questions = append(m.questions, question{q.To, true})
		}
		m.give()
	case instance.Escalate:
		m.hand(a.Head, a.Sections)
		m.escalate(a.RequiresHuman)
	case instance.Resolve:
		m.resolve(a.Number)
	case instance.Spend:
		m.spend = m.spend.Add(a.Spend)
	case instance.Expire:
		m.level = a.Level
		m.react(cmd.Actor, "timeout_"+string(a.Level), nil)
	case instance.Wake:
		m.settle(true)
	case instance.End:
		for i, l := range m.links {
			if l.Instance == a.Instance {
				m.links[i].Ended, m.links[i].Well, m.links[i].State = true, a.Well, a.State
			}
		}
		if m.closed() == "" {
			m.react(cmd.Actor, "ended", map[string]string{"instance": a.Instance, "state": a.State, "well": fmt.Sprint(a.Well)})
		}
	case instance.Override:
		if role, _, agent := strings.Cut(cmd.Actor, "/"); !agent || strings.Contains(role, ":") {
			for m.held() > 0 {
				m.escalated[m.held()-1].open = false
				m.fresh = len(m.path)
			}
		}
		m.enter(a.To)
		m.failures = map[string]int{}
		m.greet()
		m.settle(true)
	case instance.Pause:
		m.paused, m.claim = true, nil
	case instance.Resume:
		m.paused, m.faults = false, 0
		m.settle(true)
	case instance.Cancel:
		m.cancelled, m.claim = true, nil
	case instance.Retry, instance.Lapse:
		m.give()
	case instance.Migrate:
		m.def, m.claim, m.parked = def, nil, nil
		m.ended = m.row().Kind == workflow.Final
		m.settle(true)
	}
}

func (m *model) begin(a instance.Open) {
	m.issue, m.base, m.head = a.Issue, a.Base, a.Base
	for name, text := range a.Vars {
		m.vars[name] = text
	}
	for _, id := range a.After {
		m.links = append(m.links, instance.Link{Instance: id, Kind: instance.After})
	}
	if a.State == "" {
		a.State = m.def.Initial
	}
	m.enter(a.State)
	m.greet()
	m.settle(true)
}

func (m *model) report(r instance.Result) {
	number := m.asked()
	m.claim = nil
	m.absorb(r)
	if number > 0 {
		m.questions[number-1].open = false
	} else {
		m.last = &r
	}
	for range r.Questions {
		m.questions = append(m.questions, question{"", true})
	}
	for _, a := range r.Answers {
		if slices.Contains(m.open(), a.Question) {
			m.questions[a.Question-1].open = false
		}
	}
	m.remember(r.Data)
	if number > 0 {
		m.settle(true)
		return
	}
	facts, row := m.facts(), m.row()
	proposed := row.Proposes && slices.Contains(reach(row), r.Next)
	rules := row.Decide
	if proposed { // of the rules, those that lead there; and in the end the proposal itself
		rules = nil
		for _, rule := range row.Decide {
			if slices.Contains(m.places(rule.To), r.Next) {
				rule.To = []string{r.Next}
				rules = append(rules, rule)
			}
		}
		rules = append(rules, workflow.Rule{To: []string{r.Next}})
	}
	rule := m.first(rules, facts)
	if rule == nil {
		m.fail(instance.CodeUndecided)
		return
	}
	m.carry(*rule, facts, true)
}

// absorb keeps what a result found out.
func (m *model) absorb(r instance.Result) {
	m.spend = m.spend.Add(r.Spend)
	if m.base == "" && r.Base != "" {
		m.base, m.head = r.Base, r.Base
	}
	m.hand(r.Head, r.Sections)
	for _, e := range r.Evidence {
		m.evidence[e.Name] = e
		if e.OK {
			m.failure = instance.Signature{}
		}
	}
	if r.FailureSignature != "" && r.FailureSignature == m.failure.Value {
		m.failure.Repeats++
	} else if r.FailureSignature != "" {
		m.failure = instance.Signature{Value: r.FailureSignature}
	}
}

// hand keeps how far somebody got.
func (m *model) hand(head string, sections map[string]string) {
	if head != "" {
		m.head = head
	}
	for name, text := range sections {
		m.sections[name] = text
	}
}

func (m *model) hear(actor string, a instance.Signal) {
	for _, e := range a.Evidence {
		m.evidence[e.Name] = e
	}
	if m.closed() != "" {
		return
	}
	m.remember(a.Data)
	if m.held() > 0 {
		facts := m.facts()
		facts.Signal = workflow.SignalFacts{Name: a.Name, Actor: actor, Data: a.Data}
		for _, r := range m.def.Resolves {
			if r.Signal == a.Name && m.holds(r.When, facts) {
				m.resolve(0)
				return
			}
		}
	}
	m.react(actor, a.Name, a.Data)
}

func (m *model) escalate(people bool) {
	m.escalated = append(m.escalated, matter{people, true})
	if people {
		m.claim = nil
	}
}

func (m *model) resolve(number int) {
	held := m.held()
	if number == 0 {
		number = held
	}
	m.escalated[number-1].open = false
	m.failures, m.fresh = map[string]int{}, len(m.path)
	if held > 0 && m.held() == 0 {
		m.people = true
		m.settle(true)
	}
}

func (m *model) fail(why instance.Code) {
	if m.why == "" {
		m.why = why
	}
}

func (m *model) remember(vars map[string]string) {
	if !typed(m.def, vars, false) {
		m.fail(instance.CodeInvalid)
	}
	for name, text := range vars {
		if _, known := m.def.Vars[name]; known {
			m.vars[name] = text
		}
	}
}
