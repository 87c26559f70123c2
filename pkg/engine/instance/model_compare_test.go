package instance_test

import (
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// view is what the core and the model must agree on.
type view struct {
	State, Owner, Worker string
	Kind                 workflow.Kind
	Closed               instance.Closed
	Paused, Loop, Woken  bool
	Direct               bool
	Agent                string
	Lease, Since         time.Time
	Tokens, Work         uint64
	Entered              uint64
	Level                workflow.Level
	Visits, Failures     map[string]int
	Previous             []string
	Iteration, Returns   int
	Faults               int
	Questions            []asked
	Open                 []int
	Escalated            []escalation
	Links                []instance.Link
	Vars, Sections       map[string]string
	Parked               *instance.Parked
	Last                 *instance.Result
	Evidence             map[string]instance.Evidence
	Failure              instance.Signature
	Base, Head           string
	Spend                instance.Cost
}

func (m model) view() view {
	row := m.state()
	v := view{
		State: row.Name, Owner: row.Owner, Worker: m.worker(), Kind: row.Kind, Closed: m.closed(), Paused: m.paused, Loop: m.loop, Woken: m.woken,
		Direct: m.direct, Since: m.since, Tokens: m.tokens, Work: m.dispatched, Entered: m.entered, Level: m.level, Visits: m.visits(),
		Failures: m.failures,
		Previous: m.previous(), Iteration: len(m.previous()), Returns: m.returns(), Faults: m.faults, Questions: m.questions,
		Open:      m.openQuestions(),
		Escalated: m.escalations, Links: m.links, Vars: m.vars, Sections: m.sections, Parked: m.parked, Last: m.last,
		Evidence: m.evidence, Failure: m.failure, Base: m.base, Head: m.head, Spend: m.spend,
	}
	if c := m.claim; c != nil {
		v.Agent, v.Lease = c.Agent, c.Lease
	}
	return v
}

func viewOf(in instance.Instance) view {
	v := view{
		State: in.State, Owner: in.Owner, Worker: in.Worker(), Kind: in.Kind, Closed: in.Closed, Paused: in.Paused, Loop: in.Loop,
		Woken:  in.Woken,
		Direct: in.Direct, Since: in.DeadlinesSince(), Tokens: in.Tokens, Work: in.Work, Entered: in.Entered, Level: in.Level,
		Visits: map[string]int{}, Failures: map[string]int{},
		Previous: in.Previous.Slice(), Iteration: in.Iteration, Returns: in.Returns, Faults: in.Faults, Links: in.Links, Vars: in.Vars,
		Sections: in.Sections,
		Last:     in.Last, Evidence: map[string]instance.Evidence{}, Failure: in.Failure, Base: in.Base, Head: in.Head, Spend: in.Spend.Cost(),
	}
	for _, visit := range in.Visits {
		v.Visits[visit.State] = visit.Count
	}
	for _, f := range in.Failures {
		v.Failures[f.State] = f.Count
	}
	for _, q := range in.Questions {
		v.Questions = append(v.Questions, asked{q.To, !q.Answered && !q.Withdrawn, q.Used})
	}
	for _, q := range in.OpenQuestions() {
		v.Open = append(v.Open, q.Number)
	}
	for _, e := range in.Escalations {
		v.Escalated = append(v.Escalated, escalation{e.RequiresHuman, !e.Resolved})
	}
	for _, e := range in.Evidence {
		v.Evidence[e.Name] = e
	}
	if p := in.Parked; p != nil {
		v.Parked = &instance.Parked{Until: p.Until, Standing: p.Standing, WaitsFor: p.WaitsFor}
	}
	if in.Claim != nil {
		v.Agent, v.Lease = in.Claim.Agent, in.Claim.Lease
	}
	return v
}
