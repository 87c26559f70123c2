package crashtest

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

func TestWhatWasHandedToTheDeadIsHandedOutAgainAndNothingElse(t *testing.T) {
	t.Parallel()
	const queue = "pm"
	s := NewEnv(t, Service{Orchestrate: func(t testing.TB, url string) {
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
	if err := s.redeliver(queue); err != nil {
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
	if err := s.redeliver(queue); err != nil {
		t.Fatal(err)
	}
	if err := natstest.Drained(s.Ctx, s.JS, subject.EventStream, queue); err != nil {
		t.Error(err)
	}
}
