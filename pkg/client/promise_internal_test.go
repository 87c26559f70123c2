package client

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// promise promises replies to places of the nth batch.
func (o *office) promise(n int, at string, places ...int) {
	var data []byte
	for _, place := range places {
		data = wire.AppendAnswer(data, place, encoded(&pb.CommandReply{Instance: &pb.Instance{Instance: "a"}}))
	}
	o.hear(&nats.Msg{Subject: o.sent()[n].Reply, Data: wire.AppendPromise(data, at)})
	synctest.Wait()
}

// log has something be heard there.
func (o *office) log(n int, at, says string) {
	o.hear(&nats.Msg{Subject: o.sent()[n].Reply + "." + at, Data: []byte(says)})
	synctest.Wait()
}

func stored(seq uint64) string { return fmt.Sprintf(`{"stream":"EVENTS","seq":%d}`, seq) }

func TestPromises(t *testing.T) {
	const (
		refused = `{"error":{"code":400,"err_code":10071},"stream":"EVENTS","seq":0}`
		before  = `{"stream":"EVENTS","seq":6,"duplicate": true}` // of another commit with the id
	)
	for name, f := range map[string]func(k *clerk, told, work <-chan heard){
		"hold once the log has acknowledged them": func(k *clerk, told, work <-chan heard) {
			k.promise(0, "s.1", 0, 1)
			k.silent("the command", told)
			k.silent("the claim", work)
			k.log(0, "s.1", stored(7))
			k.is("the command", told, 7)
			k.is("the claim", work, 7)
		},
		"may come after that": func(k *clerk, told, work <-chan heard) {
			k.log(0, "s.1", stored(7))
			k.silent("the command", told)
			k.promise(0, "s.1", 0, 1)
			k.is("the command", told, 7)
			k.is("the claim", work, 7)
		},
		"may be of the claim alone": func(k *clerk, told, work <-chan heard) {
			k.promise(0, "s.1", 0)
			k.log(0, "s.1", stored(8))
			k.silent("the command", told)
			k.answer(0, 1, &pb.CommandReply{Seq: 7})
			k.is("the command", told, 7)
			k.is("the claim", work, 8)
		},
		"are void if the log refused, or had it before": func(k *clerk, told, work <-chan heard) {
			k.promise(0, "s.1", 0, 1)
			k.log(0, "s.1", refused)
			k.log(0, "s.1", "")
			k.log(0, "s.1", before)
			k.silent("the command", told)
			k.silent("the claim", work)
			k.answer(0, 0, &pb.CommandReply{Refusal: &pb.Refusal{Code: "no_work"}})
			k.answer(0, 1, &pb.CommandReply{Seq: 9})
			k.is("the command", told, 9)
			k.fails("the claim", work, &instance.Refusal{Code: "no_work"})
		},
		"are void once there is another answer": func(k *clerk, told, work <-chan heard) {
			k.promise(0, "s.1", 0, 1)
			k.answer(0, 0, &pb.CommandReply{Refusal: &pb.Refusal{Code: "no_work"}})
			k.log(0, "s.1", stored(7))
			k.is("the command", told, 7)
			k.fails("the claim", work, &instance.Refusal{Code: "no_work"})
		},
		"are not kept by what is acknowledged elsewhere": func(k *clerk, told, work <-chan heard) {
			k.promise(0, "s.1", 0, 1)
			k.log(0, "s.2", stored(7))
			k.log(0, "s", stored(7))
			k.silent("the command", told)
			k.silent("the claim", work)
			k.log(0, "s.1", stored(8))
			k.is("the command", told, 8)
			k.is("the claim", work, 8)
			k.log(0, "s.1", stored(8)) // nobody is told any more
			k.promise(0, "s.1", 0, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &office{desk: &desk{}}
				k := &clerk{t, o, &Client{batches: batches{nc: o}, failover: failover{nc: &fakeServers{all: []string{"here"}}}}}
				told, work := k.report("a")
				f(k, told, work)
				synctest.Wait()
				if b := &k.client.batches; b.asked != 0 || len(b.open) != 0 || len(b.sent) != 0 {
					t.Errorf("%d under way, %d gathered, %d sent", b.asked, len(b.open), len(b.sent))
				}
			})
		})
	}
}

func TestPromisesAreAskedForByClaimsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{desk: &desk{broken: errors.New("nobody is there")}}
		b := &batches{nc: o}
		b.pair("to", []byte("claim"), []byte("command"))
		b.add(few)
		for range 2 {
			b.enter("to", []byte("command"))
		}
		wait()
		for i, want := range []bool{true, false} {
			if got := wire.Promises(o.sent()[i].Data); got != want {
				t.Errorf("batch %d takes promises: %v, want %v", i, got, want)
			}
		}
	})
}
