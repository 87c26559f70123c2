package jetstream_test

import (
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
)

// open opens the log of a server with a watermark file beside the store.
func open(t testing.TB, s *natstest.Server) *jetstream.Store {
	t.Helper()
	store, err := jetstream.Open(t.Context(), s.JetStream(t), jetstream.Config{Watermark: filepath.Join(s.Dir, "watermark")})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestStore(t *testing.T) {
	eventstoretest.Run(t, func(t *testing.T) eventstore.Store { return open(t, natstest.Start(t, natstest.Options{})) })
}

func BenchmarkAppend(b *testing.B) {
	for name, o := range map[string]natstest.Options{"default": {}, "always": {SyncAlways: true}} {
		b.Run(name, func(b *testing.B) { eventstoretest.BenchmarkAppend(b, open(b, natstest.Start(b, o))) })
	}
}
