package view

import (
	"bytes"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

const id = "acme/widgets/42"

var nine = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func at(minutes float64) time.Time { return nine.Add(time.Duration(minutes * float64(time.Minute))) }

// story has every common event. The instance after some of its commits:
//
//	3 is not claimed   5 is claimed   9 waits for people   14 tests fail
//	17 silent          18 paused      21 in a loop         23 cancelled
func story() []instance.Commit {
	moved := func(from, to, owner string, kind workflow.Kind, rule, reason string) instance.Moved {
		return instance.Moved{From: from, To: to, Owner: owner, Kind: kind, Rule: rule, Reason: reason}
	}
	claimed := func(token uint64, role, agent string, until float64) instance.Claimed {
		return instance.Claimed{Token: token, Role: role, Agent: agent, Lease: at(until)}
	}
	failing := instance.Result{
		Status: instance.Failure, ConfidenceScore: 1, Summary: "TestCount fails", FailureSignature: "TestCount: got 2, want 3",
		IssuesFound: []string{"the last page is missing"},
		Evidence: []instance.Evidence{{
			Name: "tests", Commit: "5d6e7f8091a2b3c4", Command: "go test ./...", ExitCode: 1, Passed: 3, Failed: []string{"TestCount/25",
				"TestCount/11"},
		}},
	}
	retold := instance.Moved{From: "running_tests", To: "fixing_issues", Owner: "developer", Kind: workflow.Work, Rule: "decide",
		Reason: "tests fail", Failure: true}
	stuck := retold
	stuck.From, stuck.Loop = "fixing_issues", true
	commits := []struct {
		at     float64
		actor  string
		events []instance.Event
	}{
		{0, "gateway", []instance.Event{
			instance.Opened{Workflow: "issue", Definition: "a832", State: "received", Owner: "pm", Kind: workflow.Work, Base: "1a2b3c4d5e6f7081",
				Bundle: "git/base",
				Issue: instance.Issue{Repo: "acme/widgets", Number: 42, Title: "Some widgets\x1b[31m never show up", Body: "Please fix.",
					Labels: []string{"bug"}, Author: "ann"}},
			instance.Dispatched{State: "received", Owner: "pm"}}},
		{0.01, "pm/pm-1", []instance.Event{claimed(1, "pm", "pm-1", 0.5)}},
		{0.02, "pm/pm-1", []instance.Event{
			instance.Reported{Token: 1, Role: "pm", Agent: "pm-1", State: "received",
				Result: instance.Result{Status: instance.Success, ConfidenceScore: 1}},
			moved("received", "analyzing_requirements", "analyst", workflow.Work, "decide", "the report is taken up"),
			instance.Dispatched{State: "analyzing_requirements", Owner: "analyst"}}},
		{0.1, "analyst/a-1", []instance.Event{claimed(2, "analyst", "a-1", 0.6)}},
		{0.3, "analyst/a-1", []instance.Event{instance.LeaseExtended{Token: 2, Lease: at(0.8)}}},
		{0.4, "analyst/a-1", []instance.Event{
			instance.Reported{Token: 2, Role: "analyst", Agent: "a-1", State: "analyzing_requirements", Result: instance.Result{
				Status: instance.Success, ConfidenceScore: 0.4, Summary: "It is not said what is missing.", Spend: instance.Cost{TokensIn: 1200,
					TokensOut: 80, USD: 0.034, WallMS: 18_000}}},
			instance.Asked{Number: 1, From: "analyst", Text: "Which widgets?"}, instance.Asked{Number: 2, From: "analyst", Text: "On which page?"},
			moved("analyzing_requirements", "requirements_unclear", "pm", workflow.Work, "decide", "the confidence is below the threshold"),
			instance.Dispatched{State: "requirements_unclear", Owner: "pm"}}},
		{0.5, "pm/pm-1", []instance.Event{claimed(3, "pm", "pm-1", 1)}},
		{0.6, "operator:bob", []instance.Event{instance.Answered{Number: 1, Text: "The last five.", By: "bob"},
			instance.Noted{Author: "operator:bob", Kind: "comment", Text: "ann is on leave"}}},
		{0.7, "pm/pm-1", []instance.Event{
			instance.Reported{Token: 3, Role: "pm", Agent: "pm-1", State: "requirements_unclear",
				Result: instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: "asked @ann"}},
			moved("requirements_unclear", "waiting_for_requirements_clarification", "", workflow.Wait, "decide", "the questions are asked")}},
		{90, "github:ann", []instance.Event{
			instance.Signalled{Name: "commented", Actor: "github:ann", Ref: "comment/7", Data: map[string]string{"body": "Q2: the third"}},
			moved("waiting_for_requirements_clarification", "requirements_clarified", "pm", workflow.Work, "signal", "a permitted person answered"),
			instance.Dispatched{State: "requirements_clarified", Owner: "pm"}}},
		{90.1, "operator:bob", []instance.Event{
			instance.Moved{From: "requirements_clarified", To: "implementing", Owner: "developer", Kind: workflow.Work, Rule: "override",
				Reason: "it is clear enough", Override: true},
			instance.Dispatched{State: "implementing", Owner: "developer"}}},
		{91, "developer/d-1", []instance.Event{claimed(4, "developer", "d-1", 91.5),
			instance.Spent{Spend: instance.Cost{TokensIn: 9000, TokensOut: 700, USD: 0.2, WallMS: 60_000}}}},
		{95, "developer/d-1", []instance.Event{
			instance.Reported{Token: 4, Role: "developer", Agent: "d-1", State: "implementing",
				Result: instance.Result{Status: instance.Success, ConfidenceScore: 0.95, Summary: "Pages are rounded up.", Next: "completed",
					Head: "5d6e7f8091a2b3c4", Bundle: "git/1"}},
			instance.ProposalRefused{From: "implementing", Proposed: "completed", Permitted: []string{"running_tests", "creating_pr"}},
			instance.GateRefused{Gate: "require_tests", Wanted: "creating_pr", Instead: "running_tests",
				Reason: "the tests have not passed on the newest commit"},
			moved("implementing", "running_tests", "tester", workflow.Work, "require_tests", "the tests have not passed on the newest commit"),
			instance.Dispatched{State: "running_tests", Owner: "tester"}}},
		{96, "tester/t-1", []instance.Event{
			claimed(5, "tester", "t-1", 97), instance.Reported{Token: 5, Role: "tester", Agent: "t-1", State: "running_tests",
				Result: failing}, retold,
			instance.Dispatched{State: "fixing_issues", Owner: "developer"}}},
		{97, "developer/d-1", []instance.Event{claimed(6, "developer", "d-1", 97.5)}},
		{97.2, "developer/d-1", []instance.Event{instance.Released{Token: 6, Agent: "d-1", Reason: "the object store does not answer",
			Fault: true}}},
		{98, "developer/d-2", []instance.Event{instance.Claimed{Token: 7, Role: "developer", Agent: "d-2", Lease: at(98.5), Lapsed: "d-1"}}},
		{110, "operator:bob", []instance.Event{instance.Paused{Reason: "the disk is full"}}},
		{111, "operator:bob", []instance.Event{instance.Resumed{Reason: "it is not any more"},
			instance.Dispatched{State: "fixing_issues", Owner: "developer"}}},
		{112, "developer/d-2", []instance.Event{claimed(8, "developer", "d-2", 113)}},
		{113, "developer/d-2", []instance.Event{
			instance.Reported{Token: 8, Role: "developer", Agent: "d-2", State: "fixing_issues", Result: failing}, stuck,
			instance.LoopDetected{States: []string{"running_tests", "fixing_issues", "running_tests"},
				Reason: "the last 3 states were running_tests, fixing_issues, running_tests"},
			instance.Dispatched{State: "fixing_issues", Owner: "developer"}}},
		{114, "developer/d-2", []instance.Event{claimed(9, "developer", "d-2", 115)}},
		{1600, "operator:bob", []instance.Event{instance.CancelledBy{Reason: "bought other widgets"}}},
	}
	all := make([]instance.Commit, len(commits))
	for i, c := range commits {
		all[i] = instance.Commit{Seq: uint64(i + 1), ID: "cmd", At: at(c.at), Actor: c.actor, Events: c.events}
	}
	return all
}

// after returns the instance after n commits of the story.
func after(n int) Instance { return Of(wire.FullView(instance.Fold(id, story()[:n]))) }

// records returns the story as the orchestrator returns it.
func records(t *testing.T) []*pb.Record {
	t.Helper()
	var all []*pb.Record
	for i, c := range story() {
		data, err := wire.Events(c.Actor, c.Events)
		if err != nil {
			t.Fatal(err)
		}
		r, err := wire.Record(eventstore.Commit{Seq: c.Seq, ID: c.ID, Time: c.At, Instance: id, State: after(i + 1).State, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// screen returns an environment at some minutes past nine, and its output.
func screen(minutes float64) (*term.Env, *bytes.Buffer) {
	out := new(bytes.Buffer)
	return &term.Env{Stdout: out, Now: func() time.Time { return at(minutes) }}, out
}
