package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/forge"
)

// failing is a forge that refuses to be read.
type failing struct {
	forge.Reader
	mu    sync.Mutex
	asked []time.Time
	errs  []error // one after the other, the last one for ever
	done  func()
}

func (f *failing) Issues(context.Context, string, time.Time) ([]forge.Issue, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.errs[min(len(f.asked), len(f.errs)-1)]
	if f.asked = append(f.asked, time.Now()); len(f.asked) == 8 {
		f.done()
	}
	return nil, err
}

// blank is a bucket with nothing in it.
type blank struct{ jetstream.KeyValue }

func (blank) Get(context.Context, string) (jetstream.KeyValueEntry, error) {
	return nil, jetstream.ErrKeyNotFound
}

// gaps has a poller watch a forge and returns the times between its polls.
func gaps(errs ...error) []time.Duration {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f := &failing{errs: errs, done: cancel}
	p := &poller{reader: f, cursors: cursors{blank{}}, repo: widgets, all: true, log: slog.New(slog.DiscardHandler),
		permissions: &permissions{now: time.Now}}
	counts := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "polls"}, []string{"repo", "result"})
	if err := watch(ctx, p, time.Second, counts); err != nil {
		panic(err)
	}
	var all []time.Duration
	for i := range f.asked[1:] {
		all = append(all, f.asked[i+1].Sub(f.asked[i]))
	}
	return all
}

func TestAForgeIsAskedAtAnEvenPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for i, gap := range gaps(nil) {
			if gap != time.Second {
				t.Errorf("gap %d is %s", i, gap)
			}
		}
	})
}

func TestAForgeThatFailsIsAskedLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := gaps(errors.New("broken"))
		for i, gap := range all {
			if gap < time.Second {
				t.Errorf("gap %d is %s", i, gap)
			}
		}
		if first, last := all[0], all[len(all)-1]; last < 3*first {
			t.Errorf("gaps are %v", all)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		all := gaps(errors.New("broken"), errors.New("broken"), errors.New("broken"), nil)
		if last := all[len(all)-1]; last != time.Second {
			t.Errorf("when it is back the gaps are %v", all)
		}
	})
}

func TestAForgeThatNamesATimeIsNotAskedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := &forge.RateLimit{Until: time.Now().Add(time.Hour), Message: "enough"}
		all := gaps(limit, nil)
		if all[0] < time.Hour || all[1] != time.Second {
			t.Errorf("gaps are %v", all)
		}
	})
}
