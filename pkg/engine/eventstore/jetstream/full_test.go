package jetstream

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

func TestALogThatReachesTheLimitOfTheServerSaysSo(t *testing.T) {
	const limit = 1 << 20
	for name, sync := range map[string]time.Duration{"alone": time.Second, "in batches": 0} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Start(t, natstest.Options{Change: func(o *server.Options) { o.JetStreamMaxStore = limit }})
			store, err := Open(t.Context(), s.JetStream(t), Config{Sync: sync})
			if err != nil {
				t.Fatal(err)
			}
			if err := store.Full(); err != nil {
				t.Errorf("it is full from the start: %v", err)
			}
			text := []byte(strings.Repeat("x", 100<<10))
			for n := 0; err == nil && n < 2*limit/len(text); n++ {
				c := eventstoretest.Next(fmt.Sprintf("i%d", n), fmt.Sprintf("open-%d", n), eventstore.Commit{})
				c.Data = text
				_, err = store.Append(t.Context(), eventstoretest.Chained(eventstore.Commit{}, c))
			}
			if !errors.Is(err, ErrFull) || !errors.Is(store.Full(), ErrFull) {
				t.Errorf("the append ended with %v, and the log says %v", err, store.Full())
			}
		})
	}
}

func TestARefusedAppendIsForgottenOnceOneIsStoredOrAMinuteIsOver(t *testing.T) {
	var f fullness
	now := time.Now()
	if err := f.note(errMute, now); !errors.Is(err, errMute) || f.check(now.Add(fullFor-1)) == nil || f.check(now.Add(fullFor)) != nil {
		t.Errorf("%v, and then %v", err, f.check(now))
	}
	if err := f.note(nil, now); err != nil || f.check(now) != nil {
		t.Errorf("%v, and then %v", err, f.check(now))
	}
	if other := errors.New("other"); !errors.Is(f.note(other, now), other) || f.check(now) != nil {
		t.Error("another error is taken for full storage")
	}
}

func TestTheUsageOfAnAccountHasItsLimit(t *testing.T) {
	const limit = 1 << 20
	s := natstest.Start(t, natstest.Options{})
	usage, err := StorageOf(t.Context(), s.JetStream(t))
	if err != nil || usage.Limit != 0 || usage.Part() != 0 {
		t.Errorf("without a limit it is %+v, %v", usage, err)
	}
	if part := (Usage{Used: limit / 2, Limit: limit}).Part(); part != 0.5 {
		t.Errorf("half of the limit is %v", part)
	}
}
