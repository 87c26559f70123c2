package timer_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/timer"
)

// unreachable is JetStream while no server answers.
type unreachable struct{ jetstream.JetStream }

func (unreachable) Stream(context.Context, string) (jetstream.Stream, error) {
	return nil, errors.New("no answer")
}

func TestAnOutageIsLoggedOnceHoweverManyTakeTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		k := timer.New(timer.Config{JetStream: unreachable{}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var firing sync.WaitGroup
		for range 32 {
			firing.Go(func() {
				if err := k.Fire(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		firing.Wait()
		if n := strings.Count(log.String(), "due timers cannot be taken"); n != 1 {
			t.Errorf("the outage is logged %d times:\n%s", n, log.String())
		}
	})
}
