package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// agentConn is a fakeConn that replies at once to commands that are sent alone.
type agentConn struct {
	*fakeConn
	alone []string // instances of those commands
}

func (nc *agentConn) RequestMsgWithContext(_ context.Context, msg *nats.Msg) (*nats.Msg, error) {
	cmd := new(pb.Command)
	if err := proto.Unmarshal(msg.Data, cmd); err != nil {
		return nil, err
	}
	nc.mu.Lock()
	defer nc.mu.Unlock()
	nc.alone = append(nc.alone, cmd.GetInstance())
	return &nats.Msg{Data: encoded(&pb.CommandReply{Seq: 1})}, nil
}

func (nc *agentConn) lone() []string {
	nc.mu.Lock()
	defer nc.mu.Unlock()
	return slices.Clone(nc.alone)
}

// answer replies to one command of the nth batch.
func (nc *agentConn) answer(n, place int, reply *pb.CommandReply) {
	nc.handle(&nats.Msg{Subject: nc.sent()[n].Reply, Data: wire.BatchReply(wire.Answer{Number: place, Reply: encoded(reply)})})
	synctest.Wait()
}

func encoded(m proto.Message) []byte {
	data, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return data
}

// reported is the outcome of a command, or of its claim.
type reported struct {
	seq uint64 // 0 without a reply
	err error
}

// env sends commands with claims that wait.
type env struct {
	*testing.T
	*agentConn
	client *Client
}

func (e *env) report(id string) (done, claimed <-chan reported) {
	command, claim := make(chan reported, 1), make(chan reported, 1)
	go func() {
		reply, waiting, err := e.client.DoAsWithClaim(e.Context(), "pm", "report",
			&pb.Command{Instance: id, Action: &pb.Command_Report{Report: &pb.Report{Token: 1}}},
			&pb.Command{Actor: "a1", Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: "a1", LeaseMs: 1000, WaitMs: 200}}})
		command <- reported{reply.GetSeq(), err}
		reply, err = waiting.Wait(e.Context())
		claim <- reported{reply.GetSeq(), err}
	}()
	synctest.Wait()
	return command, claim
}

// instances returns the instance of each command in a batch. A claim that waits has none.
func (e *env) instances(msg *nats.Msg) (ids []string) {
	e.Helper()
	all, err := wire.Commands(msg.Data)
	if err != nil {
		e.Fatal(err)
	}
	seen := map[string]bool{}
	for _, data := range all {
		cmd := new(pb.Command)
		if err := proto.Unmarshal(data, cmd); err != nil || cmd.GetId() == "" || seen[cmd.GetId()] {
			e.Fatalf("%v has no id of its own (%v)", cmd, err)
		}
		seen[cmd.GetId()] = true
		if name, _ := wire.Action(cmd, "pm"); name == "claim" &&
			(cmd.GetClaim().GetWaitMs() != 200 || cmd.GetActor() != "a1" || cmd.GetInstance() != "") {
			e.Errorf("the claim is %v", cmd)
		}
		ids = append(ids, cmd.GetInstance())
	}
	return ids
}

func (e *env) is(name string, from <-chan reported, seq uint64) {
	e.Helper()
	if got := <-from; got.err != nil || got.seq != seq {
		e.Errorf("%s has %+v, want %d", name, got, seq)
	}
}

func (e *env) fails(name string, from <-chan reported, want error) {
	e.Helper()
	if got := <-from; !errors.Is(got.err, want) || got.seq != 0 {
		e.Errorf("%s has %+v, want %v", name, got, want)
	}
}

func (e *env) silent(name string, from <-chan reported) {
	e.Helper()
	select {
	case got := <-from:
		e.Errorf("%s has %+v already", name, got)
	default:
	}
}

// inFlight is the number of commands in flight.
func (e *env) inFlight() int {
	e.client.batcher.mu.Lock()
	defer e.client.batcher.mu.Unlock()
	return e.client.batcher.queue.inFlight
}

func TestClaimsThatWait(t *testing.T) {
	for name, f := range map[string]func(e *env){
		"are sent at once, before the command and in one message with it": func(e *env) {
			done, claimed := e.report("a")
			if len(e.sent()) != 1 || e.sent()[0].Subject != "sb.api.agent.pm.batch" || !slices.Equal(e.instances(e.sent()[0]), []string{"", "a"}) {
				e.Fatalf("sent %v", e.sent())
			}
			e.answer(0, 1, &pb.CommandReply{Seq: 7})
			e.is("the command", done, 7)
			e.silent("the claim", claimed)
			e.answer(0, 0, &pb.CommandReply{Seq: 8})
			e.is("the claim", claimed, 8)
		},
		"may be answered before the command": func(e *env) {
			done, claimed := e.report("a")
			e.answer(0, 0, &pb.CommandReply{Seq: 8})
			e.silent("the command", done)
			e.answer(0, 1, &pb.CommandReply{Seq: 7})
			e.is("the command", done, 7)
			e.is("the claim", claimed, 8)
		},
		"do not count as in flight": func(e *env) {
			var claims []<-chan reported
			for range directBelow {
				done, claimed := e.report("a")
				claims = append(claims, claimed)
				e.answer(len(claims)-1, 1, &pb.CommandReply{Seq: 7})
				e.is("the command", done, 7)
			}
			if n := e.inFlight(); n != 0 {
				e.Errorf("%d are in flight", n)
			}
			go func() { _, _ = e.client.DoAs(e.Context(), "pm", "note", &pb.Command{Instance: "alone"}) }()
			synctest.Wait()
			if got := e.lone(); !slices.Equal(got, []string{"alone"}) {
				e.Errorf("alone and at once went %q", got)
			}
			for i, claimed := range claims {
				e.answer(i, 0, &pb.CommandReply{Seq: 8})
				e.is("the claim", claimed, 8)
			}
		},
		"are sent with others when some are in flight": func(e *env) {
			e.client.batcher.addInFlight(directBelow)
			one, claimed1 := e.report("a")
			two, claimed2 := e.report("b")
			if len(e.sent()) != 0 {
				e.Fatalf("sent at once %v", e.sent())
			}
			wait()
			if len(e.sent()) != 1 || !slices.Equal(e.instances(e.sent()[0]), []string{"", "a", "", "b"}) {
				e.Fatalf("sent %v", e.sent())
			}
			if n := e.inFlight(); n != directBelow+2 {
				e.Errorf("%d are in flight", n)
			}
			for place, seq := range []uint64{5, 6, 7, 8} {
				e.answer(0, place, &pb.CommandReply{Seq: seq})
			}
			e.is("a claim", claimed1, 5)
			e.is("a command", one, 6)
			e.is("another claim", claimed2, 7)
			e.is("another command", two, 8)
			e.client.batcher.addInFlight(-directBelow)
		},
		"are not sent again: a lost answer ends both, and the command is": func(e *env) {
			done, claimed := e.report("a")
			time.Sleep(quickTry + 100*time.Millisecond)
			e.is("the command", done, 1)
			e.silent("the claim", claimed)
			time.Sleep(perTry - quickTry)
			e.fails("the claim", claimed, nats.ErrTimeout)
			if len(e.sent()) != 1 || !slices.Equal(e.lone(), []string{"a"}) {
				e.Errorf("sent %v and alone %q", e.sent(), e.lone())
			}
			e.answer(0, 0, &pb.CommandReply{Seq: 8}) // too late: it has no effect
		},
		"are not sent again with a command that is": func(e *env) {
			done, claimed := e.report("a")
			e.answer(0, 1, &pb.CommandReply{Refusal: &pb.Refusal{Code: "unavailable"}})
			e.is("the command", done, 1)
			if len(e.sent()) != 1 || !slices.Equal(e.lone(), []string{"a"}) {
				e.Errorf("sent %v and alone %q", e.sent(), e.lone())
			}
			e.silent("the claim", claimed)
			e.answer(0, 0, &pb.CommandReply{Seq: 8})
			e.is("the claim", claimed, 8)
		},
		"are not sent where no orchestrator takes batches: the command is sent alone": func(e *env) {
			done, claimed := e.report("a")
			e.handle(&nats.Msg{Subject: e.sent()[0].Reply})
			e.is("the command", done, 1)
			e.fails("the claim", claimed, errNotBatched)
			if !slices.Equal(e.lone(), []string{"a"}) {
				e.Errorf("alone went %q", e.lone())
			}
		},
		"may be refused, and the command not; and the other way round": func(e *env) {
			done, claimed := e.report("a")
			e.answer(0, 0, &pb.CommandReply{Refusal: &pb.Refusal{Code: "no_work"}})
			e.answer(0, 1, &pb.CommandReply{Seq: 7})
			e.is("the command", done, 7)
			e.fails("the claim", claimed, &instance.Refusal{Code: "no_work"})
			done, claimed = e.report("b")
			e.answer(1, 0, &pb.CommandReply{Seq: 8})
			e.answer(1, 1, &pb.CommandReply{Refusal: &pb.Refusal{Code: "lapsed"}})
			e.fails("the command", done, &instance.Refusal{Code: instance.CodeLapsed})
			e.is("the claim", claimed, 8)
		},
		"are not sent with a large command": func(e *env) {
			done, claimed := e.report(strings.Repeat("x", maxBytes))
			e.is("the command", done, 1)
			e.is("the claim", claimed, 0)
			if len(e.sent()) != 0 {
				e.Errorf("sent %v", e.sent())
			}
		},
		"end with the connection": func(e *env) {
			e.broken = nats.ErrConnectionClosed
			done, claimed := e.report("a")
			e.fails("the command", done, nats.ErrConnectionClosed)
			e.fails("the claim", claimed, nats.ErrConnectionClosed)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nc := &agentConn{fakeConn: &fakeConn{}}
				e := &env{t, nc, &Client{batcher: newBatcher(nc), failover: failover{nc: &fakeServers{all: []string{"here"}}}}}
				f(e)
				synctest.Wait()
				if q := &e.client.batcher.queue; q.inFlight != 0 || len(q.open) != 0 || len(q.sent) != 0 {
					t.Errorf("%d in flight, %d open, %d sent", q.inFlight, len(q.open), len(q.sent))
				}
			})
		})
	}
}

func TestAClaimThatWaitsIsOfARole(t *testing.T) {
	if _, _, err := new(Client).DoAsWithClaim(t.Context(), "no role", "report", &pb.Command{}, &pb.Command{}); err == nil {
		t.Error("there is such a role")
	}
}
