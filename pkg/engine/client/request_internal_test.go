package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// The orchestrator may be gone, so the first tries are short. It may be slow, so those that follow are
// long. A reply that there are no responders comes at once, and does not count as a short try.
func TestTheFirstTriesAreShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &Client{failover: failover{nc: &fakeServers{all: []string{"here"}}}}
		var took []time.Duration
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := client.request(ctx, &nats.Msg{}, func(ctx context.Context, m *nats.Msg) ([]byte, error) {
			if len(took) < 2 {
				took = append(took, 0)
				return nil, nats.ErrNoResponders
			}
			began := time.Now()
			data, err := noReply(ctx, m)
			if took = append(took, time.Since(began)); len(took) == 7 {
				cancel()
			}
			return data, err
		}, &pb.GetRequest{}, new(pb.GetReply))
		if err == nil {
			t.Fatal("there is a reply")
		}
		want := []time.Duration{0, 0, quickTry, quickTry, quickTry, perTry, perTry}
		for i, d := range took {
			if len(took) != len(want) || d != want[i] {
				t.Fatalf("the tries took %v, want %v", took, want)
			}
		}
	})
}
