package api_test

import (
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
				answers, below := w.trusting("tester", waiting("b", longest), retried(report(id, token, "updating_tests")))
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
				r, same := retried(report(id, token, "updating_tests")), claim("nowhere", 1)
				same.Id = r.GetId() // which is not the one that makes it
				answers, _ := w.trusting("tester", waiting("b", longest), same)
				if _, got := w.next(answers); got[1].GetRefusal() == nil {
					w.Fatalf("answered %v", got)
				}
				made := w.batch("tester", r)[0]
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
		"is of the claim alone if the report has no id": func(w *world, log *attended) {
			w.eventually(func(id string) bool {
				answers, _ := w.trusting("tester", waiting("b", longest), report(id, w.begin(id, "creating_tests", "tester"), "updating_tests"))
				promise, got := w.next(answers)
				if promise == "" {
					return false
				}
				_, rest := w.next(answers)
				if r := rest[1]; len(got) != 1 || got[0].GetToken() == 0 || len(rest) != 1 || r.GetSeq() == 0 {
					w.Errorf("promised %v; the report was answered %v", got, r)
				}
				w.nothing(answers)
				return true
			})
		},
		"that is not kept is followed by answers": func(w *world, log *attended) {
			w.eventually(func(id string) bool {
				r := retried(report(id, w.begin(id, "creating_tests", "tester"), "updating_tests"))
				log.fail = func() error { return eventstore.ErrConflict }
				answers, below := w.trusting("tester", waiting("b", longest), r)
				if promise, _ := w.next(answers); promise == "" {
					return false
				}
				got := map[uint32]*pb.CommandReply{}
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
				r := retried(report(id, w.begin(id, "creating_tests", "tester"), "updating_tests"))
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
		"is of each pair of several": func(w *world, log *attended) {
			w.eventually(func(id string) bool {
				other := id + "-other"
				var reports [2]*pb.Command
				for i, id := range []string{id, other} {
					reports[i] = retried(report(id, w.begin(id, "creating_tests", "tester"), "updating_tests"))
				}
				answers, below := w.trusting("tester", waiting("b", longest), reports[0], waiting("c", longest), reports[1])
				places := map[uint32]bool{}
				for range 2 {
					promise, got := w.next(answers)
					if promise == "" {
						if _, err := w.client.Cancel(w.Context(), other, "it came too late"); err != nil {
							w.Fatal(err)
						}
						return false
					}
					of, ids := map[string]bool{}, map[uint32]string{1: id, 3: other}
					for place, r := range got {
						in := r.GetInstance()
						if agent := map[uint32]string{0: "b", 2: "c"}[place]; places[place] || agent != "" && in.GetClaim().GetAgent() != agent || agent == "" && in.GetInstance() != ids[place] {
							w.Errorf("%d was promised %v", place, r)
						}
						places[place], of[in.GetInstance()] = true, true
					}
					if len(got) != 2 || len(of) != 1 {
						w.Errorf("promised together: %v", got)
					}
				}
				for range 2 {
					if msg, err := below.NextMsg(time.Minute); err != nil {
						w.Fatal(err)
					} else if _, ok := subject.Stored(msg.Data); !ok {
						w.Errorf("%s says %q", msg.Subject, msg.Data)
					}
				}
				w.nothing(answers)
				return true
			})
		},
		"is kept by a server that is being closed": func(w *world, log *attended) {
			w.eventually(func(id string) bool {
				r := retried(report(id, w.begin(id, "creating_tests", "tester"), "updating_tests"))
				closed := make(chan error, 1)
				log.sent = func() {
					log.sent = nil
					go func() { closed <- w.server.Close() }()
				}
				answers, below := w.trusting("tester", waiting("b", longest), r)
				if promise, _ := w.next(answers); promise == "" {
					return false
				}
				if _, err := below.NextMsg(time.Minute); err != nil {
					w.Fatal(err)
				}
				if err := <-closed; err != nil {
					w.Error(err)
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
