package standing_test

import (
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/standing"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func work(change func(*instance.Instance)) instance.Instance {
	in := instance.Instance{ID: "a/b/1", State: "implementing", Kind: workflow.Work, Owner: "developer", EnteredAt: noon.Add(-time.Hour)}
	change(&in)
	return in
}

func TestTheReasonThatCountsMostComesFirst(t *testing.T) {
	waits := func(in *instance.Instance) {
		in.State, in.Kind, in.Owner = "waiting_for_human_input", workflow.Wait, ""
	}
	for name, c := range map[string]struct {
		change func(*instance.Instance)
		past   standing.Past
		kinds  []standing.Kind
		who    string
	}{
		"nobody has the work":   {func(*instance.Instance) {}, standing.Past{}, []standing.Kind{standing.Queued}, "developer"},
		"an agent has it":       {func(in *instance.Instance) { in.Claim = &instance.ActiveClaim{Role: "developer", Lease: noon.Add(1)} }, standing.Past{}, []standing.Kind{standing.Working}, "developer"},
		"its agent went silent": {func(in *instance.Instance) { in.Claim = &instance.ActiveClaim{Lease: noon} }, standing.Past{}, []standing.Kind{standing.Silent}, "developer"},
		"a role is asked":       {func(in *instance.Instance) { in.Questions = []instance.Question{{Number: 1, To: "analyst"}} }, standing.Past{}, []standing.Kind{standing.Inquired}, "analyst"},
		"a role that is asked works": {func(in *instance.Instance) {
			waits(in)
			in.Questions, in.Claim = []instance.Question{{Number: 1, To: "analyst"}}, &instance.ActiveClaim{Role: "analyst", Lease: noon.Add(1)}
		}, standing.Past{}, []standing.Kind{standing.Working}, "analyst"},
		"paused, and people are waited for": {func(in *instance.Instance) { waits(in); in.Paused = true }, standing.Past{}, []standing.Kind{standing.Paused, standing.People}, "people"},
		"two escalations": {func(in *instance.Instance) {
			in.Escalations = []instance.Escalation{{RequiresHuman: true}, {RequiresHuman: true, Resolved: true}, {}, {RequiresHuman: true}}
		}, standing.Past{}, []standing.Kind{standing.Escalated, standing.Escalated}, "people"},
		"a place":        {func(in *instance.Instance) { in.Parked = &instance.Parked{WaitsFor: instance.ForPlace} }, standing.Past{}, []standing.Kind{standing.Place}, ""},
		"a day's budget": {func(in *instance.Instance) { in.Parked = &instance.Parked{WaitsFor: instance.ForBudget} }, standing.Past{}, []standing.Kind{standing.Budget}, "people"},
		"parked, and after another": {func(in *instance.Instance) {
			in.Parked, in.Links = &instance.Parked{}, []instance.Link{{Instance: "x", Kind: instance.After}, {Instance: "y", Kind: instance.After, Ended: true, Well: true}}
		}, standing.Past{}, []standing.Kind{standing.After}, ""},
		"at rest":                {func(*instance.Instance) {}, standing.Past{Rest: instance.Rest{Until: noon.Add(1)}}, []standing.Kind{standing.Resting}, ""},
		"the rest is over":       {func(*instance.Instance) {}, standing.Past{Rest: instance.Rest{Until: noon}}, []standing.Kind{standing.Queued}, "developer"},
		"cancelled while paused": {func(in *instance.Instance) { in.Closed, in.Paused = instance.Cancelled, true }, standing.Past{}, []standing.Kind{standing.Cancelled}, ""},
		"nothing is known":       {func(in *instance.Instance) { *in = instance.Instance{} }, standing.Past{}, []standing.Kind{standing.Queued}, ""},
	} {
		all := standing.Of(work(c.change), c.past, noon)
		var kinds []standing.Kind
		for _, r := range all {
			kinds = append(kinds, r.Kind)
			if r.Sentence(standing.Clock{Now: noon, Span: time.Duration.String}) == "" || r.Help == nil || r.Questions == nil || r.Others == nil {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if !slices.Equal(kinds, c.kinds) || all[0].Unblocks != c.who {
			t.Errorf("%s: %v of %q, want %v of %q", name, kinds, all[0].Unblocks, c.kinds, c.who)
		}
	}
}

func TestRefusalsAreThoseSinceTheStateWasEntered(t *testing.T) {
	gate := instance.GateRefused{Gate: "tested", Wanted: "creating_pr", Reason: "tests fail"}
	past := standing.PastOf(instance.Instance{}, []instance.Commit{
		{Seq: 1, Events: []instance.Event{instance.ProposalRefused{From: "a", Proposed: "b"}}},
		{Seq: 2, Events: []instance.Event{gate, instance.Moved{}}},
		{Seq: 3, Events: []instance.Event{instance.StatementRefused{What: instance.RefusedVar, Name: "x", Role: "developer", Permitted: []string{"pm"}}}},
	})
	var got []string
	for _, r := range past.Refused {
		got = append(got, r.Kind+": "+r.Reason)
	}
	want := []string{"gate: tested does not permit creating_pr: tests fail", "statement: variable x is set aside: developer may not give it; it may come from pm"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestEachGuardIsReadWhereItDependsOnNoNews(t *testing.T) {
	def, err := workflow.Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range def.States {
		in := work(func(in *instance.Instance) { in.State, in.Kind, in.Owner = state.Name, state.Kind, state.Owner })
		e := standing.Explain(def, in, standing.Past{}, noon)
		for _, r := range slices.Concat(e.Always, e.Gates, e.Limits) {
			if r.Holds == nil && r.Fault == "" {
				t.Errorf("%s: %s is not read", state.Name, r.When)
			}
		}
		for _, r := range e.Gates {
			if *r.Holds && r.Reason != "" {
				t.Errorf("%s: %s holds, and has the reason of a refusal: %s", state.Name, r.Name, r.Reason)
			}
		}
		for _, r := range e.Signals {
			for name := range r.Values {
				if name == "signal.data" || name == "signal.actor" {
					t.Errorf("%s: %s reads a signal that nobody gave", state.Name, r.When)
				}
			}
		}
		if len(state.Next) > 0 && len(e.Next) != len(state.Next) {
			t.Errorf("%s leads to %v", state.Name, e.Next)
		}
	}
}

func TestAGateOfUntestedWorkDoesNotHold(t *testing.T) {
	def, err := workflow.Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	gated := 0
	for _, state := range def.States {
		in := work(func(in *instance.Instance) {
			in.State, in.Kind, in.Owner, in.Head = state.Name, state.Kind, state.Owner, "c"
		})
		for _, r := range standing.Explain(def, in, standing.Past{}, noon).Gates {
			if r.Name != "require_tests" {
				continue
			}
			if gated++; r.Holds == nil || *r.Holds || r.Reason == "" || r.Values["evidence.tests"] != "none" {
				t.Errorf("%s: %s holds without evidence, by %v", state.Name, r.Name, r.Values)
			}
		}
	}
	if gated == 0 {
		t.Error("no state has a gate")
	}
}

func TestAnActionIsTypedAsACommand(t *testing.T) {
	for _, c := range []struct {
		a    standing.Action
		want string
	}{
		{standing.Action{Verb: "answer", Args: []string{"TEXT"}}, "signalbox answer a/b/1 TEXT"},
		{standing.Action{Verb: "retry"}, "signalbox retry a/b/1"},
		{standing.Action{Verb: "doctor"}, "signalbox doctor"},
	} {
		if got := c.a.Command("a/b/1"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
