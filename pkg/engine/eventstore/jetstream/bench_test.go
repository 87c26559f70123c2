package jetstream

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
)

// What an append costs on this side of the connection: the server answers at once.
func BenchmarkAppendAlone(b *testing.B) {
	ack := &nats.Msg{Data: []byte(`{"stream":"EVENTS","seq":17}`)}
	s := &Store{config: Config{Timeout: 2e9}, tracker: newWatermarkTracker(&counter{}, watermark{})}
	s.send = func(context.Context, *nats.Msg) (*nats.Msg, error) { return ack, nil }
	c := eventstoretest.Next("acme/widgets/42", "cmd-1", eventstore.Commit{})
	for name, append := range map[string]func(context.Context, pendingAppend) (uint64, error){
		"default": func(ctx context.Context, e pendingAppend) (uint64, error) { return e.alone(ctx) },
		"always":  (&groupCommit{batch: s.publishBatch}).append,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			s.append = append
			for b.Loop() {
				if _, err := s.Append(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	m, err := encode(eventstoretest.Next("acme/widgets/42", "cmd-1", eventstore.Commit{}), detour{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode(m.Subject, m.Header, m.Data, 9); err != nil {
			b.Fatal(err)
		}
	}
}
