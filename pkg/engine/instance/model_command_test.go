package instance_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// decide returns the model after a command under def, or the code of the refusal.
func (m model) decide(def *workflow.Definition, cmd instance.Command) (model, instance.Code) {
	next := m.copy()
	next.now = cmd.At
	if why := next.refuses(def, cmd); why != "" {
		return m, why
	}
	next.seq++
	_, next.claims = cmd.Do.(instance.Claim)
	next.resolvedNow = false
	if next.apply(def, cmd); next.refusal != "" {
		return m, next.refusal
	}
	return *next, ""
}

// offer returns the model after its newest command, if that dispatched work that
// the waiter can claim. ok reports whether the waiter got it.
func (m model) offer(waits instance.Claim) (_ model, ok bool) {
	if m.dispatched != m.seq || m.openInquiry() > 0 || m.worker() != waits.Role {
		return m, false
	}
	waits.Work = m.dispatched
	claim := instance.Command{ID: "waits", Instance: "acme/widgets/42", At: m.now, Actor: waits.Role + "/" + waits.Agent, Do: waits}
	next := m.copy()
	if next.refuses(m.def, claim) != "" {
		return m, false
	}
	next.claims, next.resolvedNow, next.direct = true, false, true
	if next.apply(m.def, claim); next.refusal != "" {
		return m, false
	}
	return *next, true
}

func (m *model) apply(def *workflow.Definition, cmd instance.Command) {
	switch a := cmd.Do.(type) {
	case instance.Open:
		m.create(a)
	case instance.Claim:
		m.tokens++
		m.claim, m.woken = &instance.ActiveClaim{Token: m.tokens, Role: a.Role, Agent: a.Agent, At: cmd.At, Lease: cmd.At.Add(a.Lease)}, false
		m.use()
		if m.openInquiry() == 0 {
			m.react(cmd.Actor, "claimed", nil)
		}
	case instance.Heartbeat:
		m.claim.Lease = cmd.At.Add(a.Lease)
	case instance.Prolong:
		m.claim.Lease = cmd.At.Add(a.Lease)
	case instance.Report:
		m.report(a.Result)
	case instance.Release:
		m.saveProgress(a.Head, a.Sections)
		m.claim = nil
		m.runAlways(true)
	case instance.Fail:
		m.claim = nil
		if a.Until.Sub(cmd.At) >= 5*time.Second { // it is known when it is over
			m.runAlways(false)
			break
		}
		m.faults++
		limit, ok := m.def.Policy["max_faults"].(int64)
		if !ok {
			limit = 20
		}
		if int64(m.faults) >= limit {
			m.paused = true
		}
		m.runAlways(false)
	case instance.Signal:
		m.signal(cmd.Actor, a)
	case instance.Ask:
		m.questions = append(m.questions, asked{open: true})
	case instance.Answer:
		closes := m.questions[a.Number-1].open
		m.questions[a.Number-1].open = false
		if closes && m.state().Kind == workflow.Wait && m.openEscalation() == 0 && len(m.openQuestions()) == 0 {
			m.react(cmd.Actor, "commented", map[string]string{"operator": "true"})
		} else {
			m.runAlways(false)
		}
	case instance.Inquire:
		m.saveProgress(a.Head, a.Sections)
		m.claim = nil
		for _, q := range a.Questions {
			m.questions = append(m.questions, asked{to: q.To, open: true})
		}
		m.dispatch()
	case instance.Escalate:
		m.saveProgress(a.Head, a.Sections)
		m.escalate(a.RequiresHuman)
	case instance.Resolve:
		m.resolve(a.Number)
	case instance.Spend:
		m.spend = m.spend.Add(a.Spend)
	case instance.Expire:
		m.level = a.Level
		m.react(cmd.Actor, "timeout_"+string(a.Level), nil)
	case instance.Wake:
		m.runAlways(true)
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
			for m.openEscalation() > 0 {
				m.escalations[m.openEscalation()-1].open = false
				m.returnsFrom = len(m.path)
			}
		}
		m.enter(a.To)
		m.failures = map[string]int{}
		m.onEntry()
		m.runAlways(true)
	case instance.Reopen:
		to := a.To
		for i := len(m.path) - 1; to == "" && i >= 0; i-- {
			if row, _ := m.def.State(m.path[i]); row.Kind != workflow.Final {
				to = m.path[i]
			}
		}
		for m.openEscalation() > 0 {
			m.escalations[m.openEscalation()-1].open = false
		}
		m.ended, m.cancelled, m.paused, m.claim = false, false, false, nil
		m.failure, m.lastFailed, m.returnsFrom = instance.Signature{}, false, len(m.path)
		m.enter(to)
		m.failures = map[string]int{}
		m.onEntry()
		m.runAlways(true)
	case instance.Pause:
		m.paused, m.claim = true, nil
	case instance.Resume:
		m.paused, m.faults = false, 0
		m.runAlways(true)
	case instance.Cancel:
		m.cancelled, m.claim = true, nil
	case instance.Retry, instance.Lapse, instance.Admit:
		m.dispatch()
	case instance.Hold:
		m.parked = &instance.Parked{Until: a.Until, WaitsFor: a.For}
	case instance.Migrate:
		m.def, m.claim, m.parked = def, nil, nil
		m.ended = m.state().Kind == workflow.Final
		m.runAlways(true)
	}
}

func (m *model) create(a instance.Open) {
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
	m.onEntry()
	m.runAlways(true)
}

func (m *model) report(r instance.Result) {
	number := m.openInquiry()
	r = m.admit(r)
	m.claim = nil
	m.addResult(r)
	if r.Unjudged {
		if number == 0 {
			m.last = &r
		}
		m.escalate(true)
		return
	}
	if number > 0 {
		m.questions[number-1].open = false
	} else {
		m.last = &r
	}
	for range r.Questions {
		m.questions = append(m.questions, asked{open: true})
	}
	for _, a := range r.Answers {
		if slices.Contains(m.openQuestions(), a.Question) {
			m.questions[a.Question-1].open = false
		}
	}
	m.setVars(r.Data)
	if number > 0 {
		m.runAlways(true)
		return
	}
	facts, row := m.facts(), m.state()
	proposed := row.Proposes && slices.Contains(targets(row), r.Next) && m.mayPropose(row, r.Next, facts)
	rules := row.Decide
	if proposed { // the rules to that state, and last the proposal itself
		rules = nil
		for _, rule := range row.Decide {
			if slices.Contains(m.expandPrevious(rule.To), r.Next) {
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
	m.execute(*rule, facts, true)
}

// mayPropose reports whether the result may name the next state: one that ends the run
// only if a rule that holds leads there.
func (m *model) mayPropose(row workflow.State, next string, facts workflow.Facts) bool {
	to, _ := m.def.State(next)
	if to.Kind != workflow.Final {
		return true
	}
	for _, rule := range row.Decide {
		if holds, err := rule.When.Eval(facts); slices.Contains(m.expandPrevious(rule.To), next) && (holds || err != nil) {
			return true
		}
	}
	return false
}

// addResult adds what a result brought.
func (m *model) addResult(r instance.Result) {
	m.spend = m.spend.Add(r.Spend)
	if m.base == "" && r.Base != "" {
		m.base, m.head = r.Base, r.Base
	}
	m.saveProgress(r.Head, r.Sections)
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

// saveProgress keeps the head and sections of a step.
func (m *model) saveProgress(head string, sections map[string]string) {
	if head != "" && (m.claim == nil || m.mayChange()) {
		m.head = head
	}
	for name, text := range sections {
		m.sections[name] = text
	}
}

func (m *model) signal(actor string, a instance.Signal) {
	for _, e := range m.admitEvidence("human", actor, false, a.Evidence) {
		m.evidence[e.Name] = e
	}
	if m.closed() != "" {
		return
	}
	m.setVars(m.admitVars("human", false, a.Data))
	if m.openEscalation() > 0 {
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
	m.escalations = append(m.escalations, escalation{people, true})
	if people {
		m.claim = nil
	}
}

func (m *model) resolve(number int) {
	held := m.openEscalation()
	if number == 0 {
		number = held
	}
	m.escalations[number-1].open = false
	m.failures, m.returnsFrom = map[string]int{}, len(m.path)
	if held > 0 && m.openEscalation() == 0 {
		m.resolvedNow = true
		m.runAlways(true)
	}
}

func (m *model) fail(why instance.Code) {
	if m.refusal == "" {
		m.refusal = why
	}
}

func (m *model) setVars(vars map[string]string) {
	if !validVars(m.def, vars, false) {
		m.fail(instance.CodeInvalid)
	}
	for name, text := range vars {
		if _, known := m.def.Vars[name]; known {
			m.vars[name] = text
		}
	}
}
