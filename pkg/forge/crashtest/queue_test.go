package crashtest

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

func TestWhatWasJustAppendedIsNotOverlooked(t *testing.T) {
	t.Parallel()
	s := NewStage(t, Service{Orchestrate: func(t testing.TB, url string) {
		orchestratortest.Start(t, url, 1, orchestratortest.Settings{AckWait: Lease})
	}})
	consumer, err := s.JS.Consumer(s.Ctx, subject.EventStream, "pm")
	if err != nil {
		t.Fatal(err)
	}
	for number := range 200 {
		s.Open(fmt.Sprintf("%s/%d", Repo, number+1), "issue", instance.Issue{Repo: Repo, Number: number + 1, Title: "The sum is wrong"}, Code{}, "")
		now, err := s.level(s.Ctx, consumer)
		if err != nil {
			t.Fatal(err)
		}
		if now.empty() {
			t.Fatalf("with work %d in it the queue is called empty: %+v", number+1, now)
		}
		msg, err := consumer.Next(jetstream.FetchContext(s.Ctx))
		if err == nil {
			err = msg.DoubleAck(s.Ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if now, err := s.level(s.Ctx, consumer); err != nil || !now.empty() {
		t.Errorf("with all work done the queue is %+v, %v", now, err)
	}
}

func TestWhatWasHandedToTheDeadIsHandedOutAgainAndNothingElse(t *testing.T) {
	t.Parallel()
	const queue = "pm"
	s := NewStage(t, Service{Orchestrate: func(t testing.TB, url string) {
		orchestratortest.Start(t, url, 1, orchestratortest.Settings{AckWait: Lease})
	}})
	for _, id := range []string{"acme/widgets/1", "acme/widgets/2", "acme/widgets/3"} {
		s.Open(id, "issue", s.Issue("The sum is wrong"), Code{}, "")
	}
	consumer, err := s.JS.Consumer(s.Ctx, subject.EventStream, queue)
	if err != nil {
		t.Fatal(err)
	}
	next := func() (seq, tries uint64, settle func() error) {
		t.Helper()
		msg, err := consumer.Next(jetstream.FetchContext(s.Ctx))
		if err != nil {
			t.Fatal(err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			t.Fatal(err)
		}
		return meta.Sequence.Stream, meta.NumDelivered, func() error { return msg.DoubleAck(s.Ctx) }
	}
	first, _, _ := next()
	second, _, settle := next()
	third, _, _ := next()
	if err := settle(); err != nil {
		t.Fatal(err)
	}
	if err := s.reclaim(queue); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		seq, tries, settle := next()
		if err := settle(); err != nil {
			t.Fatal(err)
		}
		if seq == second || seq != first && seq != third || tries != 2 {
			t.Errorf("handed out again was %d, the %d. time; it was %d and %d that nobody settled", seq, tries, first, third)
		}
	}
	if err := s.reclaim(queue); err != nil {
		t.Fatal(err)
	}
	if err := s.empty(s.Ctx, queue); err != nil {
		t.Error(err)
	}
}
