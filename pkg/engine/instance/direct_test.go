package instance_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// sendWithWaiter decides the command while an agent waits and compares with the
// model whether the agent gets the work.
func (p *comparison) sendWithWaiter(t rapid.TB, d dice, def *workflow.Definition, cmd instance.Command, m model) ([]instance.Event, model) {
	t.Helper()
	claim := instance.Claim{Role: one(d, "waits", append(def.Roles(), "stranger")...), Agent: one(d, "who waits", "a1", "a2", "a2", ""),
		Lease: one(d, "for", lease, time.Second, lease, 0)}
	events, given, err := instance.DecideAndClaim(def, p.in, cmd,
		func(role string) (instance.Claim, bool) { return claim, role == claim.Role })
	if err != nil {
		t.Fatalf("%T is refused while a person waits: %v", cmd.Do, err)
	}
	after, gets := m.offer(claim)
	if given != gets {
		t.Fatalf("in %s, %T %+v: %+v gets the work: %v, by the model: %v", p.in.State, cmd.Do, cmd.Do, claim, given, gets)
	}
	return events, after
}

// checkDirectClaim compares DecideAndClaim with two decisions: the command's, and a
// claim's after it. events and err are those of the command alone.
func (p *comparison) checkDirectClaim(t rapid.TB, def *workflow.Definition, cmd instance.Command, events []instance.Event, err error) {
	t.Helper()
	claim := instance.Claim{Agent: "a9", Lease: lease}
	both, given, refusal := instance.DecideAndClaim(def, p.in, cmd, func(role string) (instance.Claim, bool) {
		claim.Role = role
		return claim, true
	})
	if diff := cmp.Diff(err, refusal); diff != "" || err != nil && (given || both != nil) {
		t.Fatalf("%T while a person waits: given %v, %v\n%s", cmd.Do, given, both, diff)
	}
	if err != nil {
		return
	}
	commit := instance.Commit{Seq: uint64(len(p.log) + 1), ID: cmd.ID, At: cmd.At, Actor: cmd.Actor, Events: events}
	one := instance.Evolve(p.in, commit)
	if claim.Role == "" { // NextWaiter was not called
		if _, asked := one.Inquiry(); given || one.Work == commit.Seq && !asked || cmp.Diff(events, both) != "" {
			t.Fatalf("%T made %v of %v for nobody", cmd.Do, both, events)
		}
		return
	}
	claim.Work = one.Work
	then, err := instance.Decide(def, one, instance.Command{ID: "then", Instance: cmd.Instance, At: cmd.At,
		Actor: claim.Role + "/" + claim.Agent, Do: claim})
	if given != (err == nil) || claim.Role != one.Owner {
		t.Fatalf("%T: %s, of %s, is given the work: %v, and a claim is answered %v", cmd.Do, claim.Role, one.State, given, err)
	}
	commit.Events = then
	two := instance.Evolve(one, commit)
	two.Direct = given && !slices.ContainsFunc(then, func(e instance.Event) bool { _, is := e.(instance.Dispatched); return is })
	commit.Events = both
	if diff := cmp.Diff(dump(t, two), dump(t, instance.Evolve(p.in, commit))); diff != "" {
		t.Fatalf("%T %+v:\n-one after the other +at once:\n%s", cmd.Do, cmd.Do, diff)
	}
}

func TestWorkIsGivenToWhoWaitsForIt(t *testing.T) {
	success := instance.Result{Status: instance.Success, ConfidenceScore: 1}
	analyst := instance.Claim{Role: "analyst", Agent: "ana-1", Work: 77, Lease: time.Minute} // Work is replaced
	reported := instance.Reported{Token: 1, Role: "pm", Agent: "p1", State: "received", Result: success}
	moved := instance.Moved{From: "received", To: "analyzing_requirements", Owner: "analyst", Kind: workflow.Work, Rule: "decide",
		Reason: "the report is taken up"}
	dispatched := instance.Dispatched{State: "analyzing_requirements", Owner: "analyst"}
	for _, c := range []struct {
		name   string
		given  []step
		do     instance.Action
		waits  instance.Claim // its role is not checked: NextWaiter chooses by role
		looked string         // for an agent of that role
		then   []instance.Event
	}{
		{"of a report", []step{opened(), claim("p1")}, instance.Report{Token: 1, Result: success}, analyst, "analyst", []instance.Event{
			reported, moved, dispatched, instance.Claimed{Token: 2, Role: "analyst", Agent: "ana-1", Lease: opening().Add(time.Minute),
				Direct: true},
		}},
		{"of an opening", nil, instance.Open{Issue: instance.Issue{Title: "T"}}, instance.Claim{Role: "pm", Agent: "p1", Lease: lease}, "pm",
			[]instance.Event{
				instance.Opened{Workflow: "issue", Definition: issue(t).Hash, Issue: instance.Issue{Title: "T"}, State: "received", Owner: "pm",
					Kind: workflow.Work},
				instance.Dispatched{State: "received", Owner: "pm"},
				instance.Claimed{Token: 1, Role: "pm", Agent: "p1", Lease: opening().Add(lease), Direct: true},
			}},
		{"that came back", []step{opened(), claim("p1"), wait(lease)}, instance.Retry{Reason: "lost"},
			instance.Claim{Role: "pm", Agent: "p2", Lease: lease}, "pm", []instance.Event{
				instance.Dispatched{State: "received", Owner: "pm", Reason: "lost"},
				instance.Claimed{Token: 2, Role: "pm", Agent: "p2", Lease: opening().Add(2 * lease), Lapsed: "p1", Direct: true},
			}},
		{"but not of another role", []step{opened(), claim("p1")}, instance.Report{Token: 1, Result: success},
			instance.Claim{Role: "pm", Agent: "p2", Lease: lease}, "analyst",
			[]instance.Event{reported, moved, dispatched}},
		{"but not to nobody", []step{opened(), claim("p1")}, instance.Report{Token: 1, Result: success},
			instance.Claim{Role: "analyst", Lease: lease}, "analyst",
			[]instance.Event{reported, moved, dispatched}},
		{"but not for no time", []step{opened(), claim("p1")}, instance.Report{Token: 1, Result: success},
			instance.Claim{Role: "analyst", Agent: "ana-1"}, "analyst",
			[]instance.Event{reported, moved, dispatched}},
		{"but not where there is none", []step{opened(), claim("p1")}, instance.Note{Text: "hm"}, analyst, "",
			[]instance.Event{instance.Noted{Author: "ann", Text: "hm"}}},
		{"but not where a role is asked", []step{opened(), claim("p1")},
			instance.Inquire{Token: 1, Questions: []instance.Inquiry{{To: "analyst", Question: "Which?"}}}, analyst, "", []instance.Event{
				instance.Released{Token: 1, Agent: "p1", Reason: "asks analyst"}, instance.Asked{Number: 1, From: "pm", Text: "Which?", To: "analyst"},
				instance.Dispatched{State: "received", Owner: "analyst", Question: 1},
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, looked := given(t, issue(t), c.given...), ""
			events, got, err := instance.DecideAndClaim(s.def, s.in, s.command("ann", c.do), func(role string) (instance.Claim, bool) {
				looked = role
				return c.waits, true
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.then, events); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if _, gets := c.then[len(c.then)-1].(instance.Claimed); got != gets || looked != c.looked {
				t.Errorf("given: %v; %q was looked for, want %q", got, looked, c.looked)
			}
		})
	}
}

// TestARefusedClaimLeavesNothing checks that after a refused direct claim the
// events are the command's, without spare capacity that the claim has written to.
func TestARefusedClaimLeavesNothing(t *testing.T) {
	s := given(t, issue(t), opened(), claim("p1"))
	report := s.command("ann", instance.Report{Token: 1, Result: instance.Result{Status: instance.Success, ConfidenceScore: 1}})
	events, given, err := instance.DecideAndClaim(s.def, s.in, report, func(string) (instance.Claim, bool) { return instance.Claim{}, true })
	if err != nil || given || cap(events) != len(events) {
		t.Errorf("given: %v, %d events with room for %d, %v", given, len(events), cap(events), err)
	}
}
