package api_test

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestRepliesToAgentsHoldWhatTheyNeed(t *testing.T) {
	e := newEnv(t, nil)
	e.start("pipeline", "a", nil)
	e.note("a", "a remark")
	in, err := e.client.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	claim := e.claim("triage", in)
	if got := claim.GetInstance(); got.GetIssue().GetTitle() != "title of a" || len(got.GetNotes()) != 1 || got.GetClaim() == nil ||
		got.GetAttempt() != 1 || got.GetVisits() != nil ||
		got.GetTimeInState() != nil || got.GetTotalTime() != nil {
		t.Errorf("the claim is answered %v", got)
	}
	token := claim.GetToken()
	for _, c := range []struct {
		name  string
		cmd   *pb.Command
		state string
	}{
		{"heartbeat", &pb.Command{Action: &pb.Command_Heartbeat{Heartbeat: &pb.Heartbeat{Token: token, LeaseMs: 90_000}}}, "triage"},
		{"spend", &pb.Command{Action: &pb.Command_Spend{Spend: &pb.Charge{Token: token, Spend: &pb.Spend{TokensIn: 1}}}}, "triage"},
		{"note", &pb.Command{Action: &pb.Command_Note{Note: &pb.Note{Kind: "learning", Text: "x"}}}, "triage"},
		{"report", &pb.Command{Action: &pb.Command_Report{Report: &pb.Report{Token: token,
			Result: &pb.Result{Status: "success", ConfidenceScore: 1}}}}, "analyst"},
	} {
		c.cmd.Instance = "a"
		reply := e.as("triage", c.name, c.cmd)
		whole, err := e.client.Get(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		want := &pb.Instance{Instance: "a", Workflow: "pipeline", State: c.state, Kind: "work", Owner: c.state, Worker: c.state,
			Iteration: whole.GetIteration(), Work: whole.GetWork(), Seq: reply.GetSeq()}
		if got := reply.GetInstance(); !proto.Equal(got, want) || whole.GetSeq() != reply.GetSeq() {
			t.Errorf("a %s is answered %v, want %v", c.name, got, want)
		}
		if c.name == "heartbeat" && (reply.GetToken() != token || reply.GetLease() == nil) {
			t.Errorf("a heartbeat is answered %v", reply)
		}
	}
}

func TestAClaimTellsTheNewestOfAManyStates(t *testing.T) {
	e := newEnv(t, nil)
	e.open("a")
	for n := range 70 {
		to := []string{"analyzing_requirements", "creating_tests"}[n%2]
		if _, err := e.client.Override(t.Context(), "a", to, fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}
	in, err := e.client.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	all, given := in.GetPreviousStates(), e.claim("tester", in).GetInstance()
	if got := given.GetPreviousStates(); len(all) != 70 || !slices.Equal(got, all[6:]) || given.GetIteration() != 70 {
		t.Errorf("of %d states it is given %d, the count is %d", len(all), len(got), given.GetIteration())
	}
}
