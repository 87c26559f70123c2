package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// api is an error as the client library returns it.
func api(code int) error {
	return fmt.Errorf("nats: %w", &jetstream.APIError{Code: 400, ErrorCode: jetstream.ErrorCode(code), Description: "x"})
}

func TestWhatAnErrorMeans(t *testing.T) {
	for _, c := range []struct {
		name                         string
		err                          error
		conflicts, tooLarge, passing bool
	}{
		{"wrong last sequence, single server", api(10071), true, false, false},
		{"wrong last sequence, replicated", api(10164), true, false, false},
		{"message over the stream's limit", api(10054), false, true, false},
		{"message over the server's limit", nats.ErrMaxPayload, false, true, false},
		{"cluster without a leader", api(10008), false, false, true},
		{"an earlier try still in process", api(10158), false, false, true},
		{"an append still in flight", fmt.Errorf("x: %w", errInFlight), false, false, true},
		{"stream not found", api(10059), false, false, false},
		{"no space", api(10077), false, false, false},
		{"no responders", nats.ErrNoResponders, false, false, true},
		{"no stream response", jetstream.ErrNoStreamResponse, false, false, true},
		{"time-out of the client", nats.ErrTimeout, false, false, true},
		{"time-out of the context", context.DeadlineExceeded, false, false, true},
		{"reconnecting", fmt.Errorf("x: %w", nats.ErrConnectionReconnecting), false, false, true},
		{"reconnect buffer full", nats.ErrReconnectBufExceeded, false, false, true},
		{"closed for good", nats.ErrConnectionClosed, false, false, false},
		{"cancelled", context.Canceled, false, false, false},
		{"something else", errors.New("x"), false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := conflicts(c.err); got != c.conflicts {
				t.Errorf("conflicts: got %v", got)
			}
			if got := tooLarge(c.err); got != c.tooLarge {
				t.Errorf("tooLarge: got %v", got)
			}
			if got := passing(c.err); got != c.passing {
				t.Errorf("passing: got %v", got)
			}
		})
	}
}

func TestRetry(t *testing.T) {
	t.Run("goes on while the server is away", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			got, err := retry(t.Context(), time.Second, func(context.Context) (int, error) {
				if tries++; tries < 50 {
					return 0, nats.ErrNoResponders
				}
				return tries, nil
			})
			if err != nil || got != 50 {
				t.Fatalf("got %d, %v", got, err)
			}
		})
	})
	t.Run("ends with its context and says what kept it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := retry(ctx, time.Second, func(context.Context) (int, error) { return 0, nats.ErrNoResponders })
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no responders") {
				t.Fatalf("got %v", err)
			}
		})
	})
	t.Run("bounds each try", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			_, err := retry(t.Context(), time.Second, func(ctx context.Context) (int, error) {
				if tries++; tries == 3 {
					return 0, nil
				}
				<-ctx.Done()
				return 0, ctx.Err()
			})
			if err != nil || tries != 3 {
				t.Fatalf("got %d tries, %v", tries, err)
			}
		})
	})
	t.Run("gives up at once on any other error", func(t *testing.T) {
		tries := 0
		_, err := retry(t.Context(), time.Second, func(context.Context) (int, error) { tries++; return 0, api(10059) })
		if tries != 1 || !errors.Is(err, jetstream.ErrStreamNotFound) {
			t.Fatalf("got %d tries, %v", tries, err)
		}
	})
}
