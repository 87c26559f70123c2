package jetstream

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

func TestOnlyTheLogOfAServerAloneIsCompressed(t *testing.T) {
	for replicas, want := range map[int]jetstream.StoreCompression{
		0: jetstream.S2Compression, 1: jetstream.S2Compression, 3: jetstream.NoCompression,
	} {
		if got := logConfig(replicas, nil).Compression; got != want {
			t.Errorf("%d replicas: %v, want %v", replicas, got, want)
		}
	}
}
