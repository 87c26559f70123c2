package instance_test

import (
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// model is a second, simple implementation of the core: one record that commands
// write to, without events. It is copied before each command; a refused command
// drops the copy.
type model struct {
	def     *workflow.Definition
	refusal instance.Code // of the first refusal while the current command was applied

	seq         uint64 // commands accepted
	now         time.Time
	claims      bool // the current command is a claim
	resolvedNow bool // the current command resolved the escalation that held the instance

	issue       instance.Issue
	path        []string // every state it was in, the current one last
	returnsFrom int      // index in path from which returns are counted
	entered     uint64
	since       time.Time
	level       workflow.Level
	leftWait    instance.LeftWait
	loop        bool
	ended       bool
	lastFailed  bool // the newest move was a failure
	cancelled   bool
	paused      bool
	claim       *instance.ActiveClaim
	tokens      uint64
	dispatched  uint64
	direct      bool // a waiter claimed the work: no queue has it
	faults      int
	failures    map[string]int
	questions   []asked
	escalations []escalation
	links       []instance.Link
	vars        map[string]string
	sections    map[string]string
	parked      *instance.Parked
	woken       bool
	last        *instance.Result
	evidence    map[string]instance.Evidence
	failure     instance.Signature
	base, head  string
	spend       instance.Cost
}

type asked struct {
	to   string // a role; empty: people
	open bool
	used bool // an agent works with the answer of people
}

// use marks the answers of people as used, unless one is open.
func (m *model) use() {
	if len(m.openQuestions()) > 0 {
		return
	}
	m.questions = slices.Clone(m.questions)
	for i, q := range m.questions {
		m.questions[i].used = q.used || q.to == ""
	}
}

// answerable reports whether people can answer the question, or change its answer.
func (m model) answerable(number int) bool {
	return number >= 1 && number <= len(m.questions) && m.questions[number-1].to == "" && !m.questions[number-1].used
}

// escalation is one that requires people or not.
type escalation struct{ people, open bool }

func newModel(def *workflow.Definition) model {
	return model{def: def, failures: map[string]int{}, vars: map[string]string{}, sections: map[string]string{},
		evidence: map[string]instance.Evidence{}}
}

func (m model) copy() *model {
	m.path, m.questions, m.escalations, m.links = slices.Clone(m.path), slices.Clone(m.questions), slices.Clone(m.escalations),
		slices.Clone(m.links)
	m.failures, m.vars, m.sections, m.evidence = maps.Clone(m.failures), maps.Clone(m.vars), maps.Clone(m.sections), maps.Clone(m.evidence)
	if m.claim != nil {
		c := *m.claim
		m.claim = &c
	}
	return &m
}

func (m model) state() workflow.State {
	for _, s := range m.def.States {
		if len(m.path) > 0 && s.Name == m.path[len(m.path)-1] {
			return s
		}
	}
	return workflow.State{}
}

func (m model) previous() []string { return m.path[:max(0, len(m.path)-1)] }

func (m model) visits() map[string]int {
	visits := map[string]int{}
	for _, state := range m.path {
		visits[state]++
	}
	return visits
}

func (m model) returns() int {
	n := 0
	for i := m.returnsFrom; i < len(m.path); i++ {
		if slices.Contains(m.path[:i], m.path[i]) {
			n++
		}
	}
	return n
}

func (m model) loops() bool {
	previous, w := m.previous(), m.def.Loop.Window
	if w == 0 || len(previous) < w {
		return false
	}
	recent := slices.Sorted(slices.Values(previous[len(previous)-w:]))
	return len(slices.Compact(recent)) <= m.def.Loop.Distinct
}

func (m model) closed() instance.Closed {
	switch {
	case m.cancelled:
		return instance.Cancelled
	case m.ended:
		return instance.Ended
	}
	return ""
}

func (m model) live() bool { return m.claim != nil && m.claim.Lease.After(m.now) }

// openInquiry returns the number of the question to a role that is answered next; 0: none.
func (m model) openInquiry() int {
	for i := len(m.questions); i > 0; i-- {
		if q := m.questions[i-1]; q.open && q.to != "" {
			return i
		}
	}
	return 0
}

// openQuestions returns the numbers of the open questions to people.
func (m model) openQuestions() []int {
	var numbers []int
	for i, q := range m.questions {
		if q.open && q.to == "" {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// openEscalation returns the number of the escalation that holds the instance; 0: none.
func (m model) openEscalation() int {
	return 1 + slices.IndexFunc(m.escalations, func(e escalation) bool { return e.people && e.open })
}

// worker returns the role that works next.
func (m model) worker() string {
	switch {
	case m.openEscalation() > 0 || m.state().Kind == workflow.Final:
		return ""
	case m.openInquiry() > 0:
		return m.questions[m.openInquiry()-1].to
	}
	return m.state().Owner
}

func (m model) waiting() int {
	n := 0
	for _, l := range m.links {
		if l.Kind == instance.After && !(l.Ended && l.Well) {
			n++
		}
	}
	return n
}

// facts returns what guards may read.
func (m model) facts() workflow.Facts {
	f := workflow.Facts{
		Evidence: map[string]workflow.EvidenceFacts{},
		Instance: workflow.InstanceFacts{
			State: m.state().Name, Iteration: int64(len(m.previous())), Returns: int64(m.returns()), Visits: map[string]int64{},
			Previous: m.previous(),
			Loop:     m.loop, Repeats: int64(m.failure.Repeats), Head: m.head, OpenQuestions: int64(len(m.openQuestions())),
			Failures: int64(m.failures[m.state().Name]), FailuresIn: map[string]int64{}, WaitingOn: int64(m.waiting()),
		},
		Issue: workflow.IssueFacts{Title: m.issue.Title, Body: m.issue.Body, Labels: m.issue.Labels, Author: m.issue.Author},
		Spend: workflow.SpendFacts{Tokens: m.spend.TokensIn + m.spend.TokensOut, USD: m.spend.USD, WallMS: m.spend.WallMS},
		Vars:  map[string]any{},
	}
	for state, n := range m.visits() {
		f.Instance.Visits[state] = int64(n)
	}
	for state, n := range m.failures {
		f.Instance.FailuresIn[state] = int64(n)
	}
	for name, e := range m.evidence {
		verdict := string(e.Verdict)
		if verdict == "" {
			verdict = map[bool]string{true: "pass", false: "fail"}[e.OK]
		}
		f.Evidence[name] = workflow.EvidenceFacts{OK: e.OK, Verdict: verdict, Commit: e.Commit, By: e.Role, Failed: e.Failed, Data: e.Data}
	}
	for name, text := range m.vars {
		if value, ok := m.def.Var(name, text); ok {
			f.Vars["vars."+name] = value
		}
	}
	if m.last != nil {
		f.Result = resultFacts(*m.last)
	}
	return f
}

func resultFacts(r instance.Result) workflow.ResultFacts {
	return workflow.ResultFacts{Status: string(r.Status), ConfidenceScore: r.ConfidenceScore, IssuesFound: r.IssuesFound,
		Questions: r.Questions, Next: r.Next, FailureSignature: r.FailureSignature, Data: r.Data}
}
