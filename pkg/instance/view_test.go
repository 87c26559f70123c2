package instance_test

import (
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// view is what the product and the model must agree on.
type view struct {
	State, Owner       string
	Kind               workflow.Kind
	Closed             instance.Closed
	Paused, Loop       bool
	Agent              string
	Lease              time.Time
	Tokens, Work       uint64
	Visits             map[string]int
	Previous           []string
	Iteration, Returns int
	Faults             int
	Questions          int
	Open               []int
	Evidence           map[string]instance.Evidence
	Failure            instance.Signature
	Base, Head         string
	Spend              instance.Spend
}

func (m model) view() view {
	row := m.row()
	v := view{
		State: row.Name, Owner: row.Owner, Kind: row.Kind, Closed: m.closed(), Paused: m.paused(), Loop: m.loops(), Tokens: m.tokens(), Work: m.work(),
		Visits: m.visits(), Previous: m.previous(), Iteration: len(m.previous()), Returns: m.returns(), Faults: m.faults(),
		Questions: len(m.questions()), Open: m.open(), Evidence: m.evidence(), Failure: m.failure(), Spend: m.spend(),
	}
	v.Base, v.Head = m.commits()
	if c := m.claim(); c != nil {
		v.Agent, v.Lease = c.Agent, c.Lease
	}
	return v
}

func viewed(in instance.Instance) view {
	v := view{
		State: in.State, Owner: in.Owner, Kind: in.Kind, Closed: in.Closed, Paused: in.Paused, Loop: in.Loop, Tokens: in.Tokens, Work: in.Work,
		Visits: map[string]int{}, Previous: in.Previous, Iteration: in.Iteration, Returns: in.Returns, Faults: in.Faults,
		Questions: len(in.Questions), Evidence: map[string]instance.Evidence{}, Failure: in.Failure, Base: in.Base, Head: in.Head, Spend: in.Spend,
	}
	for _, visit := range in.Visits {
		v.Visits[visit.State] = visit.Count
	}
	for _, q := range in.OpenQuestions() {
		v.Open = append(v.Open, q.Number)
	}
	for _, e := range in.Evidence {
		v.Evidence[e.Name] = e
	}
	if in.Claim != nil {
		v.Agent, v.Lease = in.Claim.Agent, in.Claim.Lease
	}
	return v
}
