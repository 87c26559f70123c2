package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// lossy is a JetStream that loses requests, and then replies with err.
type lossy struct {
	jetstream.JetStream
	loses, asked int // numbers of requests
	err          error
}

func (d *lossy) OrderedConsumer(ctx context.Context, _ string, _ jetstream.OrderedConsumerConfig) (jetstream.Consumer, error) {
	if d.asked++; d.asked <= d.loses {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, d.err
}

func TestAWatcherAsksAgainWhenItsRequestIsLost(t *testing.T) {
	for name, want := range map[string]error{"and is answered": nil, "and is refused": jetstream.ErrStreamNotFound} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				d := &lossy{loses: 2, err: want}
				if _, err := newConsumer(ctx, d, jetstream.OrderedConsumerConfig{}); !errors.Is(err, want) || d.asked != 3 {
					t.Errorf("after %d requests it has %v", d.asked, err)
				}
			})
		})
	}
	t.Run("until the context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			d := &lossy{loses: 1000}
			if _, err := newConsumer(ctx, d, jetstream.OrderedConsumerConfig{}); !errors.Is(err, context.DeadlineExceeded) || d.asked < 3 {
				t.Errorf("after %d requests it has %v", d.asked, err)
			}
		})
	})
}
