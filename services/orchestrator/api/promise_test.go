package api_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/api"
)

// attended is a log in memory that says below an inbox what it stored.
type attended struct {
	eventstore.Store
	nc   *nats.Conn
	n    int          // appends before witnesses
	fail func() error // the next append before a witness
}

func (s *attended) Append(ctx context.Context, c eventstore.Commit) (seq uint64, err error) {
	by := c.Witness
	if by == nil {
		return s.Store.Append(ctx, c)
	}
	s.n++
	at := fmt.Sprintf("log.%d", s.n)
	knows := by.Sent(at)
	if fail := s.fail; fail != nil {
		s.fail = nil
		return 0, fail()
	}
	if seq, err = s.Store.Append(ctx, c); err == nil {
		if knows {
			by.Heard = at
		}
		err = s.nc.Publish(by.Inbox+"."+at, fmt.Appendf(nil, `{"stream":"EVENTS","seq":%d}`, seq))
	}
	return seq, err
}

// trusting sends commands of the role together that may be answered with promises,
// and returns where answers come, and what is below that.
func (w *world) trusting(role string, commands ...*pb.Command) (answers, below *nats.Subscription) {
	w.Helper()
	data, err := proto.Marshal(&pb.Batch{Commands: commands, Promises: true})
	inbox := w.nc.NewInbox()
	for _, s := range []struct {
		sub *(*nats.Subscription)
		at  string
	}{{&answers, inbox}, {&below, inbox + ".>"}} {
		if err == nil {
			*s.sub, err = w.nc.SubscribeSync(s.at)
		}
	}
	if err == nil {
		err = w.nc.PublishRequest("sb.api.agent."+role+".batch", inbox, data)
	}
	if err != nil {
		w.Fatal(err)
	}
	return answers, below
}

// next is the next answer there: its promise, and the replies by place.
func (w *world) next(sub *nats.Subscription) (promise string, replies map[uint32]*pb.CommandReply) {
	w.Helper()
	msg, err := sub.NextMsg(time.Minute)
	reply := new(pb.BatchReply)
	if err == nil {
		err = proto.Unmarshal(msg.Data, reply)
	}
	if err != nil || len(reply.GetAnswers()) == 0 {
		w.Fatalf("answered %v (%v)", reply, err)
	}
	replies = map[uint32]*pb.CommandReply{}
	for _, a := range reply.GetAnswers() {
		replies[a.GetNumber()] = a.GetReply()
	}
	return reply.GetPromise(), replies
}

// nothing more is there.
func (w *world) nothing(sub *nats.Subscription) {
	w.Helper()
	w.batch("pm", claim("nowhere", 1)) // is answered after it
	if n, _, err := sub.Pending(); err != nil || n > 0 {
		msg, _ := sub.NextMsg(time.Second)
		w.Errorf("there are %d more answers: %+v (%v)", n, msg, err)
	}
}

func TestAPromise(t *testing.T) {
	for name, f := range map[string]func(w *world, log *attended){
		"is of the claim and of the report that makes its work": func(w *world, log *attended) {
			w.eventually(func(id string) bool {
				token := w.begin(id, "creating_tests", "tester")
				r := report(id, token, "updating_tests")
				r.Id = "report-" + id
				answers, below := w.trusting("tester", waiting("b", longest), r)
				promise, got := w.next(answers)
				if promise == "" {
					return false // there was other work
				}
				if c := got[0]; len(got) != 2 || c.GetToken() != token+1 || c.GetSeq() != 0 || c.GetTask() == nil ||
					c.GetInstance().GetState() != "updating_tests" || c.GetInstance().GetClaim().GetAgent() != "b" || c.GetInstance().GetSeq() != 0 {
					w.Errorf("at %s it promised %v", promise, got)
				}
				if r := got[1]; r.GetToken() != 0 || r.Task != nil || r.GetSeq() != 0 || r.GetInstance().GetState() != "updating_tests" {
					w.Errorf("the report was promised %v", r)
				}
				msg, err := below.NextMsg(time.Minute)
				if err != nil {
					w.Fatal(err)
				}
				in, err := w.client.Get(w.Context(), id)
				if seq, ok := subject.Stored(msg.Data); err != nil || !ok || seq != in.GetSeq() || msg.Subject != answers.Subject+"."+promise {
					w.Errorf("%s says %q; the instance is at %d (%v)", msg.Subject, msg.Data, in.GetSeq(), err)
				}
				w.nothing(answers)
				return true
			})
		},
		"is of the claim alone if another makes its work": func(w *world, log *attended) {
			w.eventually(func(id string) bool {
				token := w.begin(id, "creating_tests", "tester")
				answers, _ := w.trusting("tester", waiting("b", longest), claim("nowhere", 1))
				if _, got := w.next(answers); got[1].GetRefusal() == nil {
					w.Fatalf("answered %v", got)
				}
				made := w.batch("tester", report(id, token, "updating_tests"))[0]
				promise, got := w.next(answers)
				if promise == "" {
					return false
				}
				if c := got[0]; len(got) != 1 || c.GetToken() != token+1 || made.GetSeq() == 0 || made.GetInstance().GetState() != "updating_tests" {
					w.Errorf("promised %v; the report was answered %v", got, made)
				}
				w.nothing(answers)
				return true
			})
		},
		"that is not kept is followed by answers": func(w *world, log *attended) {
			w.eventually(func(id string) bool {
				token := w.begin(id, "creating_tests", "tester")
				r := report(id, token, "updating_tests")
				r.Id = "report-" + id
				log.fail = func() error { return eventstore.ErrConflict }
				answers, below := w.trusting("tester", waiting("b", longest), r)
				promise, got := w.next(answers)
				if promise == "" {
					return false
				}
				got = map[uint32]*pb.CommandReply{}
				for len(got) < 2 {
					promise, more := w.next(answers)
					for place, reply := range more {
						got[place] = reply
					}
					if promise != "" {
						w.Errorf("promised again: %v", more)
					}
				}
				if got[0].GetRefusal().GetCode() != api.NoWork || got[1].GetSeq() == 0 || got[1].GetInstance().GetClaim() != nil {
					w.Errorf("answered %v", got)
				}
				if n, _, err := below.Pending(); n > 0 || err != nil {
					w.Errorf("there are %d acknowledgements (%v)", n, err)
				}
				w.nothing(answers)
				return true
			})
		},
		"that is not kept is no answer when another is": func(w *world, log *attended) {
			w.eventually(func(id string) bool {
				token := w.begin(id, "creating_tests", "tester")
				r := report(id, token, "updating_tests")
				r.Id = "report-" + id
				var others *nats.Subscription
				log.fail = func() error {
					others, _ = w.trusting("tester", waiting("c", longest), claim("nowhere", 1))
					w.next(others) // that nowhere is no instance: who waits is in the line
					return eventstore.ErrConflict
				}
				answers, _ := w.trusting("tester", waiting("b", longest), r)
				first, got := w.next(answers)
				if first == "" {
					return false
				}
				for _, replied := got[1]; !replied || first != ""; _, replied = got[1] {
					first, got = w.next(answers) // of the claim, then of the report
				}
				promise, other := w.next(others)
				if c := other[0]; promise == "" || c.GetInstance().GetClaim().GetAgent() != "c" || got[1].GetSeq() == 0 {
					w.Errorf("the other was promised %v; the report was answered %v", other, got)
				}
				return true
			})
		},
		"is made to those who take one": func(w *world, log *attended) {
			w.eventually(func(id string) bool {
				got := w.batch("tester", waiting("b", longest), report(id, w.begin(id, "creating_tests", "tester"), "updating_tests"))
				return got[0].GetSeq() > 0 && got[0].GetSeq() == got[1].GetSeq()
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := &attended{Store: memory.New()}
			w := newWorld(t, log)
			log.nc = w.nc
			f(w, log)
		})
	}
}
