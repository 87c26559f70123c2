package jetstream_test

import (
	"context"
	"errors"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

// A replicated stream checks expectations, and answers repeated messages, by
// other code than a single server's.
func TestReplicatedStore(t *testing.T) {
	if testing.Short() {
		t.Skip("needs three servers")
	}
	servers := natstest.StartCluster(t, 3, natstest.Options{})
	js := servers[0].JetStream(t)
	empty := func(t *testing.T) eventstore.Store {
		found := replicated(t, js) // waits for the cluster, and may find an earlier test's log
		again(t, found.Close)      // before it is gone
		for _, stream := range []string{"EVENTS", "KV_" + jetstream.WatermarkBucket} {
			again(t, func(ctx context.Context) error {
				err := js.DeleteStream(ctx, stream)
				if errors.Is(err, natsjs.ErrStreamNotFound) { // an earlier try did it
					return nil
				}
				return err
			})
		}
		store := replicated(t, js)
		t.Cleanup(func() { _ = store.Close(context.Background()) }) // what it saves later would be of a log that is gone
		return store
	}
	eventstoretest.Run(t, empty)
	t.Run("survives the restart of one server after the other", func(t *testing.T) {
		next := 0
		survives(t, empty(t), func() {
			servers[next].Restart(t)
			next++
		})
	})
	t.Run("keeps its copies though a process does not know of the cluster", func(t *testing.T) {
		for _, replicas := range []int{3, 1} {
			again(t, func(ctx context.Context) error {
				_, err := jetstream.Provision(ctx, js, jetstream.ProvisionConfig{Replicas: replicas})
				return err
			})
		}
		for _, name := range []string{"DEAD", "TIMERS", "KV_" + jetstream.DefinitionBucket, "OBJ_" + jetstream.ObjectBucket} {
			again(t, func(ctx context.Context) error {
				stream, err := js.Stream(ctx, name)
				if err == nil && stream.CachedInfo().Config.Replicas != 3 {
					t.Errorf("%s has %d copies, want 3", name, stream.CachedInfo().Config.Replicas)
				}
				return err
			})
		}
	})
	t.Run("is replicated", func(t *testing.T) {
		var stream natsjs.Stream
		again(t, func(ctx context.Context) (err error) {
			stream, err = js.Stream(ctx, "EVENTS")
			return err
		})
		if n := stream.CachedInfo().Config.Replicas; n != 3 {
			t.Fatalf("got %d replicas, want 3", n)
		}
	})
}

// again does what a cluster may not answer that is choosing its leaders.
func again(t *testing.T, try func(context.Context) error) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		err := try(ctx)
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

func replicated(t *testing.T, js natsjs.JetStream) *jetstream.Store {
	t.Helper()
	s, err := jetstream.Open(t.Context(), js, jetstream.Config{Replicas: 3})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
