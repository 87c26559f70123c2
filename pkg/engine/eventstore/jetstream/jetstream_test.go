package jetstream_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

// open opens the log of a server with a watermark file beside the store.
func open(t testing.TB, s *natstest.Server) *jetstream.Store {
	t.Helper()
	store, err := jetstream.Open(t.Context(), s.JetStream(t), jetstream.Config{Watermark: filepath.Join(s.Dir, "watermark")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.Background()) }) // or it may write where a directory is being removed
	return store
}

func TestStore(t *testing.T) {
	for name, alone := range map[string]bool{"among others": false, "alone": true} {
		t.Run(name, func(t *testing.T) {
			eventstoretest.Run(t, func(t *testing.T) eventstore.Store {
				store, err := jetstream.Open(t.Context(), natstest.Start(t, natstest.Options{}).JetStream(t), jetstream.Config{Alone: alone})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = store.Close(context.Background()) })
				return store
			})
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for name, sync := range map[string]time.Duration{"default": time.Minute, "always": 0} {
		b.Run(name, func(b *testing.B) {
			server := natstest.Start(b, natstest.Options{SyncAlways: sync == 0})
			store, err := jetstream.Open(b.Context(), server.JetStream(b), jetstream.Config{Sync: sync})
			if err != nil {
				b.Fatal(err)
			}
			eventstoretest.BenchmarkAppend(b, store)
		})
	}
}
