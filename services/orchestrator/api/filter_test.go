package api_test

import (
	"slices"
	"testing"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func (e *env) get(id string) *pb.Instance {
	e.Helper()
	in, err := e.client.Get(e.Context(), id)
	if err != nil {
		e.Fatal(err)
	}
	return in
}

func TestAListHasWhatIsAskedFor(t *testing.T) {
	e := newEnv(t, nil)
	for _, id := range []string{"new", "paused", "cancelled", "waiting"} {
		e.open(id)
	}
	for _, err := range []error{
		second(e.client.Pause(t.Context(), "paused", "r")),
		second(e.client.Cancel(t.Context(), "cancelled", "r")),
		second(e.client.Override(t.Context(), "waiting", "waiting_for_human_input", "r")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	claim := e.claim("triage", e.start("pipeline", "escalated", nil))
	e.as("triage", "escalate", &pb.Command{Instance: "escalated", Action: &pb.Command_Escalate{
		Escalate: &pb.Escalate{Token: claim.GetToken(), Reason: "r", RequiresHuman: true}}})
	e.start("task", "failing", nil)
	e.start("task", "child", nil, "failing")
	failing := e.report("solution-validator", e.claim("solution-validator", e.get("failing")), &pb.Result{Status: "failure"})
	e.report("solution-validator", e.claim("solution-validator", failing), &pb.Result{Status: "failure"})
	for name, c := range map[string]struct {
		q    *pb.ListRequest
		want []string
	}{
		"everything that can move": {&pb.ListRequest{}, []string{"child", "escalated", "failing", "new", "paused", "waiting"}},
		"everything": {&pb.ListRequest{All: true}, []string{"cancelled", "child", "escalated", "failing", "new", "paused",
			"waiting"}},
		"what waits for people": {&pb.ListRequest{Waiting: true}, []string{"escalated", "waiting"}},
		"what is stuck":         {&pb.ListRequest{Stuck: true}, []string{"paused"}},
		"what is in a state":    {&pb.ListRequest{State: "received"}, []string{"cancelled", "new", "paused"}},
		"another workflow":      {&pb.ListRequest{Workflow: "story"}, nil},
		"what people are asked": {&pb.ListRequest{Escalated: true}, []string{"escalated"}},
		"what fails":            {&pb.ListRequest{Failing: 2}, []string{"failing"}},
		"what fails more often": {&pb.ListRequest{Failing: 3}, nil},
		"what a role has to do": {&pb.ListRequest{Worker: "pm"}, []string{"new", "paused"}},
		"what is late":          {&pb.ListRequest{Overdue: true}, nil},
		"what comes behind":     {&pb.ListRequest{After: "new"}, []string{"paused", "waiting"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := e.client.List(t.Context(), c.q)
			var got []string
			for _, line := range found {
				got = append(got, line.GetInstance())
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("it has %v, %v; want %v", got, err, c.want)
			}
		})
	}
}
