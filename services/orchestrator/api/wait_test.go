package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/api"
)

// maxWait is how long a claim may wait, in milliseconds.
const maxWait = 2000

// waiting returns a claim that waits for any work.
func waiting(agent string, ms uint32) *pb.Command {
	return &pb.Command{Actor: agent, Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: agent, LeaseMs: 60_000, WaitMs: ms}}}
}

func report(id string, token uint32, next string) *pb.Command {
	return &pb.Command{Instance: id, Actor: "a", Action: &pb.Command_Report{Report: &pb.Report{Token: token, Result: &pb.Result{
		Status: "success", ConfidenceScore: 1, Next: next}}}}
}

// retried gives the report the id that its retries have, too.
func retried(report *pb.Command) *pb.Command {
	report.Id = "report-" + report.GetInstance()
	return report
}

// begin opens an instance and claims its work in a state, as the agent a.
func (e *env) begin(id, state, role string) (token uint32) {
	e.Helper()
	e.open(id)
	moved, err := e.client.Override(e.Context(), id, state, "here it begins")
	if err != nil {
		e.Fatal(err)
	}
	reply := new(pb.CommandReply)
	e.proto("sb.api.agent."+role+".claim", claim(id, moved.GetInstance().GetWork()), reply)
	if reply.GetToken() == 0 {
		e.Fatalf("the claim of %s was answered %v", id, reply)
	}
	return reply.GetToken()
}

// wait sends n claims that wait, in JSON, and returns the subscription to their replies once all of them
// wait: claims are decoded in sequence, and an invalid one is replied to at once.
func (e *env) wait(role string, n int) *nats.Subscription {
	e.Helper()
	to := "sb.api.agent." + role + ".claim"
	sub, err := e.nc.SubscribeSync(e.nc.NewInbox())
	if err != nil {
		e.Fatal(err)
	}
	for i := range n {
		data := fmt.Appendf(nil, `{"claim":{"agent":"waiting-%d","lease_ms":60000,"wait_ms":%d}}`, i, maxWait)
		if err := e.nc.PublishRequest(to, sub.Subject, data); err != nil {
			e.Fatal(err)
		}
	}
	e.proto(to, waiting("", 1), new(pb.CommandReply))
	return sub
}

// next returns the next reply to the claims.
func (e *env) next(sub *nats.Subscription) *pb.CommandReply {
	e.Helper()
	msg, err := sub.NextMsg(time.Minute)
	if err != nil {
		e.Fatal(err)
	}
	reply := new(pb.CommandReply)
	if err := protojson.Unmarshal(msg.Data, reply); err != nil || msg.Header.Get("Content-Type") != "application/json" {
		e.Fatalf("answered %v %q: %v", msg.Header, msg.Data, err)
	}
	return reply
}

// eventually repeats give until a claim that waits gets the work. On a busy machine its time may be over
// before there is any.
func (e *env) eventually(give func(id string) (given bool)) {
	e.Helper()
	for n := range 20 {
		if give(id(n)) {
			return
		}
		if _, err := e.client.Cancel(e.Context(), id(n), "it came too late"); err != nil { // no work is in the queue
			e.Fatal(err)
		}
	}
	e.Fatal("no claim that waits ever gets work")
}

func TestAClaimThatWaitsIsAnsweredWithTheWorkThatIsMade(t *testing.T) {
	e := newEnv(t, nil)
	e.eventually(func(id string) bool {
		token := e.begin(id, "received", "pm")
		sub := e.wait("analyst", 1)
		reported := new(pb.CommandReply)
		e.proto("sb.api.agent.pm.report", report(id, token, ""), reported)
		if in := reported.GetInstance(); reported.GetToken() != 0 || reported.Lease != nil || reported.Task != nil ||
			in.GetState() != "analyzing_requirements" || in.GetWork() != reported.GetSeq() {
			t.Errorf("the report was answered %v", reported)
		}
		got := e.next(sub)
		if got.GetRefusal().GetCode() == api.CodeNoWork {
			return false
		}
		if got.GetToken() != token+1 || got.GetSeq() != reported.GetSeq() || got.Lease == nil || got.GetTask().GetAbout() == "" {
			t.Errorf("the claim was answered %v", got)
		}
		if in := got.GetInstance(); in.GetInstance() != id || in.GetState() != "analyzing_requirements" ||
			in.GetIssue().GetTitle() != "title of "+id || in.GetClaim().GetAgent() != "waiting-0" || in.GetAttempt() != 1 {
			t.Errorf("it has %v", in)
		}
		commits, err := e.store.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if last := commits[len(commits)-1]; last.Seq != got.GetSeq() || last.Wakes {
			t.Errorf("the last commit is %d, and wakes an agent: %v", last.Seq, last.Wakes)
		}
		done := new(pb.CommandReply)
		e.proto("sb.api.agent.analyst.report", report(id, got.GetToken(), "requirements_unclear"), done)
		if done.GetInstance().GetState() != "requirements_unclear" {
			t.Errorf("the report of that was answered %v", done)
		}
		return true
	})
}

func TestAClaimThatWaitsIsGivenTheWorkOfAReportBehindIt(t *testing.T) {
	e := newEnv(t, nil)
	e.eventually(func(id string) bool {
		token := e.begin(id, "creating_tests", "tester")
		got := e.batch("tester", waiting("b", maxWait), report(id, token, "updating_tests"))
		if r := got[1]; r.GetRefusal() != nil || r.GetToken() != 0 || r.Task != nil || r.GetInstance().GetState() != "updating_tests" {
			t.Fatalf("the report was answered %v", r)
		}
		if got[0].GetRefusal().GetCode() == api.CodeNoWork {
			return false
		}
		if c := got[0]; c.GetToken() != token+1 || c.GetSeq() != got[1].GetSeq() || c.GetInstance().GetState() != "updating_tests" ||
			c.GetInstance().GetClaim().GetAgent() != "b" || c.GetTask() == nil {
			t.Errorf("the claim was answered %v", c)
		}
		return true
	})
}

func TestAReportThatIsRepeatedDoesNotTellTheTokenOfAnother(t *testing.T) {
	e := newEnv(t, nil)
	e.eventually(func(id string) bool {
		r := retried(report(id, e.begin(id, "creating_tests", "tester"), "updating_tests"))
		got := e.batch("tester", waiting("b", maxWait), r)
		if got[0].GetRefusal().GetCode() == api.CodeNoWork {
			return false
		}
		again := new(pb.CommandReply)
		e.proto("sb.api.agent.tester.report", r, again)
		if !again.GetDuplicate() || again.GetSeq() != got[0].GetSeq() || again.GetToken() != 0 || again.Task != nil {
			t.Errorf("it was answered %v", again)
		}
		return true
	})
}

func TestWhatCannotWaitIsRefused(t *testing.T) {
	e := newEnv(t, nil)
	work := e.open("x").GetSeq()
	change := func(f func(*pb.Command)) *pb.Command { c := waiting("a", 100); f(c); return c }
	for _, c := range []struct {
		name      string
		cmd       *pb.Command
		code, say string
	}{
		{"an instance", change(func(c *pb.Command) { c.Instance = "x" }), "invalid", "names no instance and no work"},
		{"work", change(func(c *pb.Command) { c.GetClaim().Work = work }), "invalid", "names no instance and no work"},
		{"no agent", change(func(c *pb.Command) { c.GetClaim().Agent = "" }), "invalid", "names its agent and a lease"},
		{"no lease", change(func(c *pb.Command) { c.GetClaim().LeaseMs = 0 }), "invalid", "names its agent and a lease"},
		{"too long", change(func(c *pb.Command) { c.GetClaim().WaitMs = maxWait + 1 }), "invalid", "wait_ms is 2001, want at most 2000"},
		{"for ever", change(func(c *pb.Command) { c.GetClaim().WaitMs = 1<<32 - 1 }), "invalid", "want at most 2000"},
		{"in vain", change(func(c *pb.Command) { c.GetClaim().WaitMs = 1 }), "no_work", "no work came"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e.unchanged(func() {
				alone := new(pb.CommandReply)
				msg := e.proto("sb.api.agent.tester.claim", c.cmd, alone)
				for how, reply := range map[string]*pb.CommandReply{"alone": alone, "in a batch": e.batch("tester", c.cmd)[0]} {
					if no := reply.GetRefusal(); no.GetCode() != c.code || !strings.Contains(no.GetMessage(), c.say) {
						t.Errorf("%s it was answered %v", how, reply)
					}
				}
				want := map[string]string{"invalid": "400", "no_work": "404"}[c.code]
				if got := msg.Header.Get("Nats-Service-Error-Code"); got != want {
					t.Errorf("the header says %q, want %q", got, want)
				}
			})
		})
	}
}

func TestWhoWaitsKeepsNobodyFromBeingAnswered(t *testing.T) {
	e := newEnv(t, nil)
	const n = 600 // more than there are answered at a time
	e.eventually(func(id string) (first bool) {
		sub := e.wait("developer", n)
		e.open(id)
		if _, err := e.client.Override(t.Context(), id, "implementing", "here it begins"); err != nil {
			t.Fatal(err)
		}
		for range n {
			got := e.next(sub)
			if no := got.GetRefusal(); no != nil && no.GetCode() != api.CodeNoWork {
				t.Errorf("answered %v", no)
			}
			first = first || got.GetInstance().GetClaim().GetAgent() == "waiting-0" // all else was done while it waited
		}
		return first
	})
}

func TestWhoWaitsIsAnsweredWhenTheServerIsClosed(t *testing.T) {
	for range 10 {
		if closesSoon(t) {
			return
		}
	}
	t.Error("no claim that waits is ever replied to before its time is over")
}

// closesSoon closes a server where claims wait, sees to it that they are
// answered, and reports whether that was before any of them would have been.
func closesSoon(t *testing.T) bool {
	e := newEnv(t, nil)
	const n = 20
	start := time.Now()
	sub := e.wait("developer", n)
	inBatch, err := e.nc.SubscribeSync(e.nc.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	data, err := proto.Marshal(&pb.Batch{Commands: []*pb.Command{waiting("b", maxWait), waiting("c", maxWait), waiting("", 1)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.nc.PublishRequest("sb.api.agent.developer.batch", inBatch.Subject, data); err != nil {
		t.Fatal(err)
	}
	answered := 0
	next := func() {
		msg, err := inBatch.NextMsg(time.Minute)
		reply := new(pb.BatchReply)
		if err == nil {
			err = proto.Unmarshal(msg.Data, reply)
		}
		if err != nil {
			t.Fatal(err)
		}
		answered += len(reply.GetAnswers())
	}
	next() // that of the one that cannot wait: the others do
	if err := e.server.Close(); err != nil {
		t.Fatal(err)
	}
	soon := time.Since(start) < maxWait*time.Millisecond
	for range n {
		if no := e.next(sub).GetRefusal(); no.GetCode() != api.CodeNoWork {
			t.Errorf("answered %v", no)
		}
	}
	for answered < 3 {
		next()
	}
	return soon
}

// Field 2 of a Batch was an offer to take provisional replies. An agent of an older
// build still makes it, and accepts whole replies.
func TestABatchOfAnOlderAgentIsAnswered(t *testing.T) {
	e := newEnv(t, nil)
	e.eventually(func(id string) bool {
		token := e.begin(id, "creating_tests", "tester")
		older := &pb.Batch{Commands: []*pb.Command{waiting("b", maxWait), retried(report(id, token, "updating_tests"))}}
		older.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), 1))
		got := e.batchOf("tester", older)
		if r := got[1]; r.GetRefusal() != nil || r.GetSeq() == 0 || r.GetInstance().GetSeq() != r.GetSeq() {
			t.Fatalf("the report was answered %v", r)
		}
		if got[0].GetRefusal().GetCode() == api.CodeNoWork {
			return false
		}
		if c := got[0]; c.GetToken() != token+1 || c.GetSeq() != got[1].GetSeq() || c.GetInstance().GetWork() != c.GetSeq() {
			t.Errorf("the claim was answered %v", c)
		}
		return true
	})
}
