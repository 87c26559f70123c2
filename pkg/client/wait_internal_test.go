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

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// office is a desk where commands are answered, those that come alone at once.
type office struct {
	*desk
	alone []string // the instances that were asked about alone
}

func (o *office) RequestMsgWithContext(_ context.Context, msg *nats.Msg) (*nats.Msg, error) {
	cmd := new(pb.Command)
	if err := proto.Unmarshal(msg.Data, cmd); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.alone = append(o.alone, cmd.GetInstance())
	return &nats.Msg{Data: encoded(&pb.CommandReply{Seq: 1})}, nil
}

func (o *office) lone() []string { o.mu.Lock(); defer o.mu.Unlock(); return slices.Clone(o.alone) }

// answer answers one command of the nth batch.
func (o *office) answer(n, place int, reply *pb.CommandReply) {
	o.hear(&nats.Msg{Subject: o.sent()[n].Reply, Data: wire.AppendAnswer(nil, place, encoded(reply))})
	synctest.Wait()
}

func encoded(m proto.Message) []byte {
	data, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return data
}

// heard is what somebody was told in the end: of a command or of its claim.
type heard struct {
	seq uint64 // none if there is no reply
	err error
}

// clerk sends commands with claims that wait.
type clerk struct {
	*testing.T
	*office
	client *Client
}

func (k *clerk) report(id string) (told, work <-chan heard) {
	command, claim := make(chan heard, 1), make(chan heard, 1)
	go func() {
		reply, waiting, err := k.client.DoAsWithClaim(k.Context(), "pm", "report",
			&pb.Command{Instance: id, Action: &pb.Command_Report{Report: &pb.Report{Token: 1}}},
			&pb.Command{Actor: "a1", Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: "a1", LeaseMs: 1000, WaitMs: 200}}})
		command <- heard{reply.GetSeq(), err}
		reply, err = waiting.Wait(k.Context())
		claim <- heard{reply.GetSeq(), err}
	}()
	synctest.Wait()
	return command, claim
}

// together are the instances that the commands of a batch are about; a claim that
// waits is about none.
func (k *clerk) together(msg *nats.Msg) (ids []string) {
	k.Helper()
	all, err := wire.Commands(msg.Data)
	if err != nil {
		k.Fatal(err)
	}
	seen := map[string]bool{}
	for _, data := range all {
		cmd := new(pb.Command)
		if err := proto.Unmarshal(data, cmd); err != nil || cmd.GetId() == "" || seen[cmd.GetId()] {
			k.Fatalf("%v has no id of its own (%v)", cmd, err)
		}
		seen[cmd.GetId()] = true
		if name, _ := wire.Action(cmd, "pm"); name == "claim" && (cmd.GetClaim().GetWaitMs() != 200 || cmd.GetActor() != "a1" || cmd.GetInstance() != "") {
			k.Errorf("the claim is %v", cmd)
		}
		ids = append(ids, cmd.GetInstance())
	}
	return ids
}

func (k *clerk) is(who string, from <-chan heard, seq uint64) {
	k.Helper()
	if got := <-from; got.err != nil || got.seq != seq {
		k.Errorf("%s was told %+v, want %d", who, got, seq)
	}
}

func (k *clerk) fails(who string, from <-chan heard, want error) {
	k.Helper()
	if got := <-from; !errors.Is(got.err, want) || got.seq != 0 {
		k.Errorf("%s was told %+v, want %v", who, got, want)
	}
}

func (k *clerk) silent(who string, from <-chan heard) {
	k.Helper()
	select {
	case got := <-from:
		k.Errorf("%s was told %+v already", who, got)
	default:
	}
}

// under is how many commands are under way.
func (k *clerk) under() int {
	k.client.batches.mu.Lock()
	defer k.client.batches.mu.Unlock()
	return k.client.batches.asked
}

func TestClaimsThatWait(t *testing.T) {
	for name, f := range map[string]func(k *clerk){
		"go at once, before the command and in one message with it": func(k *clerk) {
			told, work := k.report("a")
			if len(k.sent()) != 1 || k.sent()[0].Subject != "sb.api.agent.pm.batch" || !slices.Equal(k.together(k.sent()[0]), []string{"", "a"}) {
				k.Fatalf("sent %v", k.sent())
			}
			k.answer(0, 1, &pb.CommandReply{Seq: 7})
			k.is("the command", told, 7)
			k.silent("the claim", work)
			k.answer(0, 0, &pb.CommandReply{Seq: 8})
			k.is("the claim", work, 8)
		},
		"may be answered before the command": func(k *clerk) {
			told, work := k.report("a")
			k.answer(0, 0, &pb.CommandReply{Seq: 8})
			k.silent("the command", told)
			k.answer(0, 1, &pb.CommandReply{Seq: 7})
			k.is("the command", told, 7)
			k.is("the claim", work, 8)
		},
		"do not count as under way": func(k *clerk) {
			var works []<-chan heard
			for range few {
				told, work := k.report("a")
				works = append(works, work)
				k.answer(len(works)-1, 1, &pb.CommandReply{Seq: 7})
				k.is("the command", told, 7)
			}
			if n := k.under(); n != 0 {
				k.Errorf("%d are under way", n)
			}
			go func() { _, _ = k.client.DoAs(k.Context(), "pm", "note", &pb.Command{Instance: "alone"}) }()
			synctest.Wait()
			if got := k.lone(); !slices.Equal(got, []string{"alone"}) {
				k.Errorf("alone and at once went %q", got)
			}
			for i, work := range works {
				k.answer(i, 0, &pb.CommandReply{Seq: 8})
				k.is("the claim", work, 8)
			}
		},
		"go with others when some are under way": func(k *clerk) {
			k.client.batches.add(few)
			one, work1 := k.report("a")
			two, work2 := k.report("b")
			if len(k.sent()) != 0 {
				k.Fatalf("sent at once %v", k.sent())
			}
			wait()
			if len(k.sent()) != 1 || !slices.Equal(k.together(k.sent()[0]), []string{"", "a", "", "b"}) {
				k.Fatalf("sent %v", k.sent())
			}
			if n := k.under(); n != few+2 {
				k.Errorf("%d are under way", n)
			}
			for place, seq := range []uint64{5, 6, 7, 8} {
				k.answer(0, place, &pb.CommandReply{Seq: seq})
			}
			k.is("a claim", work1, 5)
			k.is("a command", one, 6)
			k.is("another claim", work2, 7)
			k.is("another command", two, 8)
			k.client.batches.add(-few)
		},
		"are not sent again: a lost answer ends both, and the command is": func(k *clerk) {
			told, work := k.report("a")
			time.Sleep(quickTry + 100*time.Millisecond)
			k.is("the command", told, 1)
			k.silent("the claim", work)
			time.Sleep(perTry - quickTry)
			k.fails("the claim", work, nats.ErrTimeout)
			if len(k.sent()) != 1 || !slices.Equal(k.lone(), []string{"a"}) {
				k.Errorf("sent %v and alone %q", k.sent(), k.lone())
			}
			k.answer(0, 0, &pb.CommandReply{Seq: 8}) // too late: nobody is told
		},
		"are not sent again with a command that is": func(k *clerk) {
			told, work := k.report("a")
			k.answer(0, 1, &pb.CommandReply{Refusal: &pb.Refusal{Code: "unavailable"}})
			k.is("the command", told, 1)
			if len(k.sent()) != 1 || !slices.Equal(k.lone(), []string{"a"}) {
				k.Errorf("sent %v and alone %q", k.sent(), k.lone())
			}
			k.silent("the claim", work)
			k.answer(0, 0, &pb.CommandReply{Seq: 8})
			k.is("the claim", work, 8)
		},
		"are no more where nobody takes batches: the command goes alone": func(k *clerk) {
			told, work := k.report("a")
			k.hear(&nats.Msg{Subject: k.sent()[0].Reply})
			k.is("the command", told, 1)
			k.fails("the claim", work, errAlone)
			if !slices.Equal(k.lone(), []string{"a"}) {
				k.Errorf("alone went %q", k.lone())
			}
		},
		"are told a refusal, which is not the command's": func(k *clerk) {
			told, work := k.report("a")
			k.answer(0, 0, &pb.CommandReply{Refusal: &pb.Refusal{Code: "no_work"}})
			k.answer(0, 1, &pb.CommandReply{Seq: 7})
			k.is("the command", told, 7)
			k.fails("the claim", work, &instance.Refusal{Code: "no_work"})
			told, work = k.report("b")
			k.answer(1, 0, &pb.CommandReply{Seq: 8})
			k.answer(1, 1, &pb.CommandReply{Refusal: &pb.Refusal{Code: "lapsed"}})
			k.fails("the command", told, &instance.Refusal{Code: instance.CodeLapsed})
			k.is("the claim", work, 8)
		},
		"are none beside a command that is too large": func(k *clerk) {
			told, work := k.report(strings.Repeat("x", mostBytes))
			k.is("the command", told, 1)
			k.is("the claim", work, 0)
			if len(k.sent()) != 0 {
				k.Errorf("sent %v", k.sent())
			}
		},
		"end with the connection": func(k *clerk) {
			k.broken = nats.ErrConnectionClosed
			told, work := k.report("a")
			k.fails("the command", told, nats.ErrConnectionClosed)
			k.fails("the claim", work, nats.ErrConnectionClosed)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &office{desk: &desk{}}
				k := &clerk{t, o, &Client{batches: batches{nc: o}, failover: failover{nc: &fakeServers{all: []string{"here"}}}}}
				f(k)
				synctest.Wait()
				if b := &k.client.batches; b.asked != 0 || len(b.open) != 0 || len(b.sent) != 0 {
					t.Errorf("%d under way, %d gathered, %d sent", b.asked, len(b.open), len(b.sent))
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
