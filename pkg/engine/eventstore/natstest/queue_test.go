package natstest

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

func TestWhatWasJustAppendedIsNotOverlooked(t *testing.T) {
	ctx, js := t.Context(), Start(t, Options{}).JetStream(t)
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s.*"}}); err != nil {
		t.Fatal(err)
	}
	consumer, err := js.CreateConsumer(ctx, "S", jetstream.ConsumerConfig{
		Durable: "d", FilterSubjects: []string{"s.never", "s.work"}, AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		t.Fatal(err)
	}
	var now level
	for number := range 500 {
		for _, subject := range []string{"s.work", "s.other"} {
			if _, err := js.Publish(ctx, subject, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := now.look(ctx, js, consumer); err != nil || now.empty() {
			t.Fatalf("with message %d in it the queue is called empty: %+v, %v", number+1, now, err)
		}
		msg, err := consumer.Next(jetstream.FetchContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		if err := now.look(ctx, js, consumer); err != nil || now.empty() {
			t.Fatalf("with message %d under way the queue is called empty: %+v, %v", number+1, now, err)
		}
		if err := msg.DoubleAck(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := Drained(ctx, js, "S", "d"); err != nil {
		t.Error(err)
	}
	if err := Drained(ctx, js, "S", "e"); !errors.Is(err, jetstream.ErrConsumerNotFound) {
		t.Errorf("of a queue that is not there it says %v", err)
	}
}
