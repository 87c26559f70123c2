package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/allowance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/api"
)

const allowanceSubject = "sb.api.allowance"

// minutes asks for a place where writes are a minute apart, so that no test is too slow.
func minutes(holder string) *pb.AllowanceRequest {
	return &pb.AllowanceRequest{Holder: allowance.Name(holder), Place: &pb.AllowanceRequest_Place{PaceMs: 60_000, WithinMs: 60_000}}
}

func slowDown(holder string, d time.Duration) *pb.AllowanceRequest {
	return &pb.AllowanceRequest{Holder: allowance.Name(holder), Told: []*pb.ReachedLimit{{ForMs: uint32(d.Milliseconds()), Words: "403 slow\tdown"}}}
}

func TestOnlyWhoUsesTheForgeSharesItsLimits(t *testing.T) {
	_, as := withAccounts(t)
	heard := map[access.Party]*nats.Subscription{}
	conns := map[access.Party]*nats.Conn{}
	parties := []access.Party{system, gateway, pm, developer, vera, ann, ada}
	for _, p := range parties {
		conns[p] = as(p)
		sub, err := conns[p].SubscribeSync(subject.ForgeLimits)
		if err != nil || conns[p].Flush() != nil {
			t.Fatal(err)
		}
		heard[p] = sub
	}
	data, err := proto.Marshal(slowDown("x", 10*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	for p, wants := range map[access.Party]string{system: "", gateway: "", pm: "", developer: nats.ErrNoResponders.Error(),
		vera: "view-vera may not allowance", ann: "act-ann may not allowance", ada: "admin-ada may not allowance"} {
		got, err := conns[p].Request(allowanceSubject, data, unheard)
		var reply pb.AllowanceReply
		said := ""
		switch {
		case err != nil:
			said = err.Error()
		case proto.Unmarshal(got.Data, &reply) != nil:
			said = "not a reply"
		default:
			said = reply.GetRefusal().GetMessage()
		}
		if said != wants {
			t.Errorf("%s: %q, want %q", p, said, wants)
		}
		if no := reply.GetRefusal(); no != nil && strings.Join(no.GetAllowed(), " ") != "gateway pm committer git-manager shepherd" {
			t.Errorf("%s: permitted are %v", p, no.GetAllowed())
		}
	}
	for _, p := range parties {
		if err := conns[p].Flush(); err != nil {
			t.Fatal(err)
		}
		if p.UsesForge() || p == system {
			m, err := heard[p].NextMsg(unheard)
			var news pb.AllowanceNews
			if err != nil || proto.Unmarshal(m.Data, &news) != nil || news.GetHolder() != allowance.Name("x") || news.GetLimits()[0].GetWords() != "403 slow down" {
				t.Errorf("%s hears %v, %v", p, &news, err)
			}
		}
		if n, _, _ := heard[p].Pending(); n != 0 {
			t.Errorf("%s hears %d more", p, n)
		}
	}
}

func TestWhoAsksNextGetsTheNextPlaceAndTheLimitsOfAll(t *testing.T) {
	e := newEnv(t, nil)
	ask := func(q *pb.AllowanceRequest) *pb.AllowanceReply {
		reply := new(pb.AllowanceReply)
		e.proto(allowanceSubject, q, reply)
		return reply
	}
	near := func(ms uint32, want time.Duration) bool {
		return (time.Duration(ms)*time.Millisecond - want).Abs() < 30*time.Second
	}
	first, second, third := ask(minutes("x")), ask(minutes("x")), ask(minutes("x"))
	if !first.GetTaken() || first.GetWaitMs() != 0 || !second.GetTaken() || !near(second.GetWaitMs(), time.Minute) || third.GetTaken() || !near(third.GetWaitMs(), 2*time.Minute) {
		t.Errorf("%v, %v, %v", first, second, third)
	}
	if other := ask(minutes("y")); !other.GetTaken() || other.GetWaitMs() != 0 {
		t.Errorf("another token: %v", other)
	}
	for _, q := range []*pb.AllowanceRequest{slowDown("x", 1000*time.Hour), slowDown("x", time.Minute), minutes("x")} {
		got := ask(q)
		if len(got.GetLimits()) != 1 || got.GetTaken() || !near(got.GetLimits()[0].GetForMs(), time.Hour) {
			t.Errorf("%v", got)
		}
	}
	checks, err := e.client.Health(t.Context())
	if err != nil || len(checks) != 1 || checks[0].GetStatus() != api.Warn || !strings.Contains(checks[0].GetDetail(), "403 slow") {
		t.Errorf("the health is %v, %v; want the one limit", checks, err)
	}
	if got := ask(minutes("y")); len(got.GetLimits()) != 0 {
		t.Errorf("another token: %v", got)
	}
	if no := ask(&pb.AllowanceRequest{Holder: "ghp_token"}).GetRefusal(); no.GetCode() != "invalid" || strings.Contains(no.GetMessage(), "ghp_token") {
		t.Errorf("%v", no)
	}
}

// BenchmarkAllowance is a place in the lanes of writes, over a real server.
func BenchmarkAllowance(b *testing.B) {
	_, _, nc := serve(b)
	data, err := proto.Marshal(&pb.AllowanceRequest{Holder: allowance.Name("x"), Place: &pb.AllowanceRequest_Place{Creates: true, PaceMs: 1, WithinMs: 10_000}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := nc.Request(allowanceSubject, data, time.Second); err != nil {
			b.Fatal(err)
		}
	}
}
