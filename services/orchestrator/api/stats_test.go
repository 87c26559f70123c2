package api_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/client"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// A watcher of summaries gets each instance that changed once, as it is now.
func TestAWatchOfSummaries(t *testing.T) {
	e := newEnv(t, nil)
	e.open(id(0))
	after, err := e.client.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e.open(id(1))
	e.note(id(0), "one")
	e.note(id(0), "two")
	if err := second(e.client.Cancel(t.Context(), id(1), "r")); err != nil {
		t.Fatal(err)
	}
	newest, err := e.client.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]*pb.Summary{}
	commits := 0
	err = e.client.Follow(t.Context(), after, func(c client.Change) error {
		for _, s := range c.Summaries {
			seen[s.GetInstance()] = s
		}
		if commits += len(c.Commits); c.Seq < newest {
			return nil
		}
		return client.ErrStopWatch
	})
	if commits != int(newest-after) {
		t.Errorf("following has %d commits, want %d", commits, newest-after)
	}
	if err != nil || len(seen) != 2 || seen[id(0)].GetClosed() != "" || seen[id(1)].GetClosed() != "cancelled" || seen[id(1)].GetSeq() != newest {
		t.Errorf("saw %v, %v; want %s open, %s cancelled at %d", seen, err, id(0), id(1), newest)
	}
	reply := e.watch(&pb.WatchRequest{After: after, Summaries: true})
	if len(reply.GetCommits()) > 0 || len(reply.GetSummaries()) != 2 {
		t.Errorf("a reply has %d commits and %d summaries, want 0 and 2", len(reply.GetCommits()), len(reply.GetSummaries()))
	}
	stop := errors.New("stop")
	if err := e.client.Follow(t.Context(), newest, func(client.Change) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("it ends with %v, want the error of its caller", err)
	}
}

// Counts, the work of roles and costs follow what happens.
func TestCountsAgentsAndCosts(t *testing.T) {
	e := newEnv(t, nil)
	e.start("task", "acme/widgets/1", nil)
	e.start("task", "acme/widgets/2", nil)
	e.start("task", "acme/gears/3", nil)
	if err := second(e.client.Cancel(t.Context(), "acme/widgets/2", "r")); err != nil {
		t.Fatal(err)
	}
	claim := e.claim("solution-validator", e.get("acme/widgets/1"))
	e.as("solution-validator", "spend", &pb.Command{Instance: "acme/widgets/1", Action: &pb.Command_Spend{
		Spend: &pb.Charge{Token: claim.GetToken(), Spend: &pb.Spend{TokensIn: 5, Usd: 0.5, Brain: "model:a"}}}})
	e.report("solution-validator", claim, &pb.Result{Status: "failure", Spend: &pb.Spend{TokensIn: 10, TokensOut: 1, Usd: 1, Brain: "model:b"}})
	e.claim("solution-validator", e.get("acme/gears/3"))

	counts, err := e.client.Counts(t.Context(), &pb.CountsRequest{ByRepo: true})
	if err != nil {
		t.Fatal(err)
	}
	var open, closed, failing int64
	for _, c := range counts.GetCounts() {
		if c.GetClosed() != "" {
			closed += c.GetInstances()
			continue
		}
		open, failing = open+c.GetInstances(), failing+c.GetFailing()
	}
	if open != 2 || closed != 1 || failing != 1 {
		t.Errorf("%d are open, %d closed, %d failing; want 2, 1, 1: %v", open, closed, failing, counts)
	}
	if of, err := e.client.Counts(t.Context(), &pb.CountsRequest{Repo: "acme/gears"}); err != nil || len(of.GetCounts()) != 1 || of.GetCounts()[0].GetInstances() != 1 {
		t.Errorf("of one repository: %v, %v", of, err)
	}

	roles, err := e.client.Agents(t.Context())
	at := slices.IndexFunc(roles, func(r *pb.RoleWork) bool { return r.GetRole() == "solution-validator" })
	if err != nil || at < 0 {
		t.Fatalf("roles %v, %v", roles, err)
	}
	if r := roles[at]; r.GetBusy() != 1 || r.GetWorking()[0].GetAgent() != "solution-validator-1" || r.GetQueued() != 1 || r.GetOldest() == nil {
		t.Errorf("it has %v, want one at work and one queued", r)
	}

	for by, want := range map[string]map[string]float64{
		"repo":  {"acme/widgets": 1.5},
		"brain": {"model:a": 0.5, "model:b": 1},
		"role":  {"solution-validator": 1.5},
	} {
		reply, err := e.client.Costs(t.Context(), &pb.CostsRequest{By: []string{by}})
		if err != nil || reply.GetReading() || len(reply.GetSums()) != len(want) {
			t.Fatalf("by %s: %v, %v", by, reply, err)
		}
		steps := int64(0)
		for _, s := range reply.GetSums() {
			name := s.GetRepo() + s.GetBrain() + s.GetRole()
			if s.GetUsd() != want[name] {
				t.Errorf("by %s: %s cost %v, want %v", by, name, s.GetUsd(), want[name])
			}
			steps += s.GetSteps()
		}
		if steps != 1 {
			t.Errorf("by %s: %d steps, want 1", by, steps)
		}
	}
	for _, wrong := range []*pb.CostsRequest{{By: []string{"colour"}}, {Since: "yesterday"}} {
		if _, err := e.client.Costs(t.Context(), wrong); err == nil {
			t.Errorf("%v was answered", wrong)
		}
	}
}
