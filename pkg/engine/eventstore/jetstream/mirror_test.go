package jetstream_test

import (
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

// A mirror as docs/recovery.md has it holds the very same commits.
func TestAMirrorIsReadLikeTheLog(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	store := open(t, server)
	eventstoretest.Grow(t, store, "a", 3, eventstore.Commit{})
	js := server.JetStream(t)
	mirror, err := js.CreateStream(t.Context(), natsjs.StreamConfig{
		Name: "EVENTS_MIRROR", Mirror: &natsjs.StreamSource{Name: "EVENTS"}, Storage: natsjs.FileStorage, DenyDelete: true, DenyPurge: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	last := eventstoretest.Grow(t, store, "b", 2, eventstore.Commit{})[1]
	_, err = backoff.Retry(t.Context(), func() (*natsjs.RawStreamMsg, error) { return mirror.GetMsg(t.Context(), last.Seq) }, backoff.WithMaxElapsedTime(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	survey, err := jetstream.OpenAuditReader(t.Context(), js, "EVENTS_MIRROR", jetstream.Config{})
	if err != nil || survey.Fault != nil || survey.Last != 5 {
		t.Fatalf("got %+v, %v", survey, err)
	}
	var chains eventstore.Verifier
	read := 0
	if err := survey.Read(t.Context(), 1, func(m jetstream.Message) error {
		for name := range m.Header {
			if m.Header.Get(name) == "" {
				t.Errorf("%d has an empty %s", m.Seq, name)
			}
		}
		c, err := m.Commit()
		if err != nil {
			return err
		}
		read++
		return chains.Add(c)
	}); err != nil || read != 5 {
		t.Errorf("%d commits were read, %v", read, err)
	}
	if err := survey.Read(t.Context(), 5, func(m jetstream.Message) error {
		if c, err := m.Commit(); err != nil || c.Seq != 5 || c.Prev != 4 || c.Chain != last.Chain {
			t.Errorf("got %+v, %v, want %+v", c, err, last)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
