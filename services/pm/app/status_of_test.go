package app

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestHowAnInstanceStands(t *testing.T) {
	def, err := workflow.Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	minute := func(n int64) *timestamppb.Timestamp { return timestamppb.New(time.Unix(n*60, 0)) }
	for name, c := range map[string]struct {
		in    *pb.Instance
		phase rules.Phase
		role  string
		waits []string
	}{
		"work that nobody has":   {&pb.Instance{State: "implementing", Kind: "work", Worker: "developer"}, rules.Working, "developer", nil},
		"work that a person has": {&pb.Instance{State: "implementing", Kind: "work", Worker: "developer", Claim: &pb.Claimant{Role: "developer", Agent: "a"}}, rules.Working, "developer", nil},
		"a question to a role":   {&pb.Instance{State: "implementing", Kind: "work", Owner: "developer", Worker: "analyst"}, rules.Working, "analyst", nil},
		"open questions": {&pb.Instance{State: "waiting_for_human_input", Kind: "wait", Reason: "r",
			Questions: []*pb.Question{{Number: 1, Answered: true}, {Number: 2}, {Number: 3}, {Number: 4, To: "analyst", Answered: true}}},
			rules.Waiting, "", []string{"answers to Q2, Q3"}},
		"a wait":              {&pb.Instance{State: "waiting_for_human_input", Kind: "wait", Reason: "no compiler"}, rules.Waiting, "", []string{"people: no compiler"}},
		"a wait for a role":   {&pb.Instance{State: "waiting_for_human_input", Kind: "wait", Owner: "pm", Worker: "pm"}, rules.Working, "pm", nil},
		"paused":              {&pb.Instance{State: "implementing", Kind: "work", Worker: "developer", Paused: true, Reason: "later"}, rules.Waiting, "", []string{"a person to resume it: later"}},
		"paused for an issue": {&pb.Instance{State: "received", Kind: "work", Worker: "pm", Paused: true, Reason: "it waits for #12"}, rules.Waiting, "", []string{"#12, or for a person to resume it"}},
		"an escalation": {&pb.Instance{State: "implementing", Kind: "work", Worker: "", Escalations: []*pb.Escalation{
			{Agent: "developer", Reason: "old", RequiresHuman: true, Resolved: true}, {Agent: "developer", Reason: "new", RequiresHuman: true}, {Agent: "x"}}},
			rules.Waiting, "", []string{"a person, as the developer asks: new"}},
		"at rest": {&pb.Instance{State: "implementing", Kind: "work", Worker: "developer", Parked: &pb.Parked{Until: minute(61), Reason: "a usage limit"}},
			rules.Working, "developer", []string{"1970-01-01 01:01 UTC: a usage limit"}},
		"looked at again soon": {&pb.Instance{State: "implementing", Kind: "work", UpdatedAt: minute(60), Parked: &pb.Parked{Until: minute(61), Reason: "the reviewers"}},
			rules.Working, "", []string{"the reviewers"}},
		"parked": {&pb.Instance{State: "implementing", Kind: "work", Parked: &pb.Parked{Reason: "checks are pending"}}, rules.Working, "",
			[]string{"something to happen: checks are pending"}},
		"after another": {&pb.Instance{State: "received", Kind: "work", Links: []*pb.Link{{Instance: "a", Kind: "after"}, {Instance: "b", Kind: "after", Ended: true, Well: true}, {Instance: "c", Kind: "child"}}},
			rules.Working, "", []string{"a"}},
		"done":                  {&pb.Instance{State: "completed", Kind: "final", Closed: "ended", Reason: "r"}, rules.Done, "", nil},
		"failed":                {&pb.Instance{State: "completed", Kind: "final", Closed: "ended", Failed: true}, rules.Failed, "", nil},
		"moved to a failure":    {&pb.Instance{State: "failed", Kind: "final", Closed: "ended"}, rules.Failed, "", nil},
		"cancelled while at it": {&pb.Instance{State: "implementing", Kind: "work", Closed: "cancelled", Paused: true}, rules.Cancelled, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := statusOf(c.in, def, nil, instance.Rest{})
			if s.Phase != c.phase || s.Role != c.role || !cmp.Equal(s.Waits, c.waits) || s.About == "" {
				t.Errorf("it stands %+v, want %s, %q, %q", s, c.phase, c.role, c.waits)
			}
			if statusOf(c.in, nil, nil, instance.Rest{}).Text() == "" {
				t.Error("without a lifecycle there is no text")
			}
		})
	}
}

func TestTheCommentSaysWhatKeepsTheWorkFromBeingGivenOut(t *testing.T) {
	def, err := workflow.Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	until := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	limited := []*pb.Record{{Time: timestamppb.New(until), Commit: &pb.Commit{Events: []*pb.Event{
		{Event: &pb.Event_Claimed{Claimed: &pb.Claimed{}}},
		{Event: &pb.Event_Released{Released: &pb.Released{Fault: true, Reason: "GitHub's limit is reached.", Until: timestamppb.New(until)}}}}}}}
	taken := append(limited, &pb.Record{Commit: &pb.Commit{Events: []*pb.Event{{Event: &pb.Event_Claimed{Claimed: &pb.Claimed{}}}}}})
	work := func(p *pb.Parked) *pb.Instance {
		return &pb.Instance{State: "implementing", Kind: "work", Owner: "developer", Worker: "developer", Parked: p}
	}
	paused := work(nil)
	paused.Paused = true
	for name, c := range map[string]struct {
		in      *pb.Instance
		commits []*pb.Record
		says    string
	}{
		"a place": {work(&pb.Parked{WaitsFor: string(instance.ForPlace), Reason: "it waits for a place: at most 1 at a time"}), nil,
			"- Nobody is given the work: it waits for a place: at most 1 at a time. It goes on by itself when other work there is done.\n"},
		"a day's budget": {work(&pb.Parked{WaitsFor: string(instance.ForBudget), Reason: "the budget day=5usd is spent: $5.50 of $5.00", Until: timestamppb.New(until)}), nil,
			"- Nobody is given the work: the budget day=5usd is spent: $5.50 of $5.00. It goes on by itself at 2026-03-02 00:00 UTC.\n"},
		"a limit of the forge": {work(nil), limited,
			"- developer gave the work back because of the machinery: GitHub's limit is reached. It rests until 2026-03-02 00:00 UTC; then it goes on by itself.\n"},
		"a limit that is over":             {work(nil), taken, ""},
		"a limit of the forge, and people": {paused, limited, ""},
	} {
		text := statusOf(c.in, def, nil, restOf(instance.Rest{}, c.commits)).Text()
		if c.says != "" && !strings.Contains(text, c.says) || c.says == "" && strings.Contains(text, "by itself") {
			t.Errorf("%s: want %q in\n%s", name, c.says, text)
		}
	}
}

func TestThePullRequestIsNamed(t *testing.T) {
	for _, in := range []*pb.Instance{
		{Vars: map[string]string{"prNumber": "7"}, LastResult: &pb.Result{Data: map[string]string{"pr_number": "8"}}},
		{LastResult: &pb.Result{Data: map[string]string{"pr_number": "7"}}}, {LastResult: &pb.Result{Data: map[string]string{"prNumber": "7"}}},
	} {
		if n := pullOf(in); n != 7 {
			t.Errorf("%v has %d", in, n)
		}
	}
	if n := pullOf(&pb.Instance{Vars: map[string]string{"prNumber": "x"}}); n != 0 {
		t.Errorf("no number is %d", n)
	}
}

func TestTheLastMovesAreKept(t *testing.T) {
	var moves []rules.Move
	for n := range 3 * rules.MaxMoves {
		moves = movesOf(moves, []*pb.Record{{Time: timestamppb.New(time.Unix(int64(n), 0)), Commit: &pb.Commit{Events: []*pb.Event{
			{Event: &pb.Event_Claimed{Claimed: &pb.Claimed{}}}, {Event: &pb.Event_Moved{Moved: &pb.Moved{From: "a", To: "b"}}}}}}})
	}
	if len(moves) != rules.MaxMoves || moves[len(moves)-1].At.Unix() != 3*rules.MaxMoves-1 {
		t.Errorf("%+v", moves)
	}
}

func TestWhatPeopleHaveToKnowIsUrgent(t *testing.T) {
	for name, c := range map[string]struct {
		event  *pb.Event
		urgent bool
	}{
		"a move to work":     {&pb.Event{Event: &pb.Event_Moved{Moved: &pb.Moved{Kind: string(workflow.Work)}}}, false},
		"a move to people":   {&pb.Event{Event: &pb.Event_Moved{Moved: &pb.Moved{Kind: string(workflow.Wait)}}}, true},
		"an end":             {&pb.Event{Event: &pb.Event_Moved{Moved: &pb.Moved{Kind: string(workflow.Final)}}}, true},
		"an escalation":      {&pb.Event{Event: &pb.Event_Escalated{Escalated: &pb.Escalated{}}}, true},
		"a claim":            {&pb.Event{Event: &pb.Event_Claimed{Claimed: &pb.Claimed{}}}, false},
		"a cancellation":     {&pb.Event{Event: &pb.Event_Cancelled{Cancelled: &pb.Cancelled{}}}, true},
		"an unknown event":   {&pb.Event{}, false},
		"a pause by a human": {&pb.Event{Event: &pb.Event_Paused{Paused: &pb.Paused{}}}, true},
	} {
		data, err := proto.Marshal(&pb.Commit{Events: []*pb.Event{c.event}})
		if err != nil || urgent(data) != c.urgent {
			t.Errorf("%s: urgent is %v, %v", name, !c.urgent, err)
		}
	}
	if urgent([]byte("\xff")) {
		t.Error("what is no commit is urgent")
	}
	if labelOf(rules.Waiting) != "signalbox:waiting" || labelOf(rules.Cancelled) != "" {
		t.Error("labels are", labelOf(rules.Waiting), labelOf(rules.Cancelled))
	}
}
