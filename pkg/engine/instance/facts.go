package instance

import "github.com/signalbox/signalbox/pkg/engine/workflow"

// Rank orders the instance among the ready ones of its lifecycle: Definition.Order.
func Rank(def *workflow.Definition, in Instance) ([]int64, error) {
	d := decision{def: def, in: in}
	facts := *d.facts()
	ranks := make([]int64, len(def.Order))
	for i, expression := range def.Order {
		var err error
		if ranks[i], err = expression.Rank(facts); err != nil {
			return nil, err
		}
	}
	return ranks, nil
}

// holds evaluates a guard on the trigger's facts or, if that is nil, on the
// instance's. It computes facts only for a guard that may read some.
func (d *decision) holds(g workflow.Guard, trigger *workflow.Facts) (bool, error) {
	if trigger == nil && !g.Always() {
		trigger = d.facts()
	}
	return g.Holds(trigger)
}

// facts returns what guards may read of the instance after the recorded events.
// It is read-only: callers that change it copy it first.
func (d *decision) facts() *workflow.Facts {
	if d.factsCache == nil || d.factsAt != len(d.events) {
		facts := d.computeFacts()
		d.factsCache, d.factsAt = &facts, len(d.events)
	}
	return d.factsCache
}

func (d *decision) computeFacts() workflow.Facts {
	in := &d.in
	f := workflow.Facts{
		Instance: workflow.InstanceFacts{
			State: in.State, Iteration: int64(in.Iteration), Returns: int64(in.Returns),
			Loop: in.Loop, Repeats: int64(in.Failure.Repeats), Head: in.Head, OpenQuestions: int64(len(in.OpenQuestions())),
			Failures: int64(in.FailuresIn(in.State)), WaitingOn: int64(in.WaitingOn()),
		},
		Issue: workflow.IssueFacts{Title: in.Issue.Title, Body: in.Issue.Body, Labels: in.Issue.Labels, Author: in.Issue.Author},
		Spend: workflow.SpendFacts{Tokens: in.Spend.TokensIn + in.Spend.TokensOut, USD: in.Spend.USD, WallMS: in.Spend.WallMS},
	}
	if d.def.Reads("previous_states") {
		f.Instance.Previous = in.Previous.Slice()
	}
	if d.def.Reads("evidence") {
		f.Evidence = make(map[string]workflow.EvidenceFacts, len(in.Evidence))
		for _, e := range in.Evidence {
			f.Evidence[e.Name] = e.Facts()
		}
	}
	if d.def.Reads("visits") {
		f.Instance.Visits = make(map[string]int64, len(in.Visits))
		for _, v := range in.Visits {
			f.Instance.Visits[v.State] = int64(v.Count)
		}
	}
	if d.def.Reads("failures_in") {
		f.Instance.FailuresIn = make(map[string]int64, len(in.Failures))
		for _, n := range in.Failures {
			f.Instance.FailuresIn[n.State] = int64(n.Count)
		}
	}
	if in.Last != nil {
		f.Result = resultFacts(*in.Last)
	}
	f.Vars = d.vars()
	return f
}

// vars returns the instance's vars in the definition's types. It leaves out a value
// of an older definition that this one cannot read: guards then read the default.
func (d *decision) vars() map[string]any {
	if len(d.in.Vars) == 0 {
		return nil
	}
	vars := make(map[string]any, len(d.in.Vars))
	for name, text := range d.in.Vars {
		if typed, ok := d.def.Var(name, text); ok {
			vars["vars."+name] = typed
		}
	}
	return vars
}

func resultFacts(r Result) workflow.ResultFacts {
	return workflow.ResultFacts{
		Status: string(r.Status), ConfidenceScore: r.ConfidenceScore, IssuesFound: r.IssuesFound,
		Questions: r.Questions, Next: r.Next, FailureSignature: r.FailureSignature, Data: r.Data,
	}
}
