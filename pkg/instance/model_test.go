package instance_test

import (
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// model is the second implementation, as simple as it gets: one record that
// commands write to, without events. It is copied before each command, and who
// is refused leaves the copy behind.
type model struct {
	def *workflow.Definition
	why instance.Code // of the first thing that went wrong in the command under way

	seq    uint64 // commands taken
	now    time.Time
	takes  bool // the command under way is a claim
	people bool // the command under way resolved what people were asked

	issue      instance.Issue
	path       []string // every state it was in, the present one last
	fresh      int      // where in path the returns are counted from
	entered    uint64
	since      time.Time
	level      workflow.Level
	loop       bool
	ended      bool
	cancelled  bool
	paused     bool
	claim      *instance.ActiveClaim
	tokens     uint64
	work       uint64
	direct     bool // who waited has the work, and no queue
	faults     int
	failures   map[string]int
	questions  []question
	escalated  []matter
	links      []instance.Link
	vars       map[string]string
	sections   map[string]string
	parked     *instance.Parked
	woken      bool
	last       *instance.Result
	evidence   map[string]instance.Evidence
	failure    instance.Signature
	base, head string
	spend      instance.Cost
}

type question struct {
	to   string // a role; empty: people
	open bool
}

// matter was escalated.
type matter struct{ people, open bool }

func newModel(def *workflow.Definition) model {
	return model{def: def, failures: map[string]int{}, vars: map[string]string{}, sections: map[string]string{}, evidence: map[string]instance.Evidence{}}
}

func (m model) copy() *model {
	m.path, m.questions, m.escalated, m.links = slices.Clone(m.path), slices.Clone(m.questions), slices.Clone(m.escalated), slices.Clone(m.links)
	m.failures, m.vars, m.sections, m.evidence = maps.Clone(m.failures), maps.Clone(m.vars), maps.Clone(m.sections), maps.Clone(m.evidence)
	if m.claim != nil {
		c := *m.claim
		m.claim = &c
	}
	return &m
}

func (m model) row() workflow.State {
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
	for i := m.fresh; i < len(m.path); i++ {
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

// asked is the number of the question to a role that is to be answered next; 0: none is.
func (m model) asked() int {
	for i := len(m.questions); i > 0; i-- {
		if q := m.questions[i-1]; q.open && q.to != "" {
			return i
		}
	}
	return 0
}

// open lists the questions to people that are open.
func (m model) open() []int {
	var numbers []int
	for i, q := range m.questions {
		if q.open && q.to == "" {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// held is the number of the matter that people are waited for; 0: none.
func (m model) held() int {
	return 1 + slices.IndexFunc(m.escalated, func(e matter) bool { return e.people && e.open })
}

// worker is whose turn it is.
func (m model) worker() string {
	switch {
	case m.held() > 0 || m.row().Kind == workflow.Final:
		return ""
	case m.asked() > 0:
		return m.questions[m.asked()-1].to
	}
	return m.row().Owner
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

// facts is what guards may know.
func (m model) facts() workflow.Facts {
	f := workflow.Facts{
		Evidence: map[string]workflow.EvidenceFacts{},
		Instance: workflow.InstanceFacts{
			State: m.row().Name, Iteration: int64(len(m.previous())), Returns: int64(m.returns()), Visits: map[string]int64{}, Previous: m.previous(),
			Loop: m.loop, Repeats: int64(m.failure.Repeats), Head: m.head, OpenQuestions: int64(len(m.open())),
			Failures: int64(m.failures[m.row().Name]), FailuresIn: map[string]int64{}, WaitingOn: int64(m.waiting()),
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
		f.Evidence[name] = workflow.EvidenceFacts{OK: e.OK, Verdict: verdict, Commit: e.Commit, Failed: e.Failed, Data: e.Data}
	}
	for name, text := range m.vars {
		if value, ok := m.def.Var(name, text); ok {
			f.Vars["vars."+name] = value
		}
	}
	if m.last != nil {
		f.Result = known(*m.last)
	}
	return f
}

func known(r instance.Result) workflow.ResultFacts {
	return workflow.ResultFacts{Status: string(r.Status), ConfidenceScore: r.ConfidenceScore, IssuesFound: r.IssuesFound,
		Questions: r.Questions, Next: r.Next, FailureSignature: r.FailureSignature, Data: r.Data}
}
