package role

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// takes is a brain that works for a time, and tells it.
type takes time.Duration

func (d takes) Work(ctx context.Context, _ brain.Assignment) (brain.Outcome, error) {
	began := time.Now()
	var err error
	select {
	case <-time.After(time.Duration(d)):
	case <-ctx.Done():
		err = ctx.Err()
	}
	return brain.Outcome{Result: instance.Result{Spend: instance.Cost{WallMS: time.Since(began).Milliseconds()}}}, err
}

func TestTheTimeOfAProgramIsRecordedAsItPassesAndEndsWithTheBudget(t *testing.T) {
	for name, c := range map[string]struct {
		takes    time.Duration
		limit    int // of recorded minutes, after which the orchestrator says that all is spent; 0: none
		recorded int
		left     time.Duration // that is in its outcome
		over     bool
	}{
		"a short one":           {50 * time.Second, 0, 0, 50 * time.Second, false},
		"a long one":            {150 * time.Second, 0, 2, 30 * time.Second, false},
		"one of whole minutes":  {2*time.Minute + 1, 0, 2, time.Millisecond, false},
		"one beyond the budget": {time.Hour, 3, 3, time.Millisecond, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			affordable, spend := context.WithCancelCause(context.Background())
			defer spend(nil)
			minutes := 0
			s := &step{brain: takes(c.takes), job: agent.Job{Affordable: affordable, Spend: func(_ context.Context, cost instance.Cost) error {
				if cost != (instance.Cost{WallMS: 60_000, Brain: "exec:x"}) {
					t.Errorf("%s: recorded is %+v", name, cost)
				}
				if minutes++; minutes == c.limit {
					spend(&brain.SpentError{Why: "the day's is spent"})
				}
				return nil
			}}}
			out, err := brain.Work(t.Context(), brain.Named{Brain: s.brain, Name: "exec:x"}, brain.Assignment{}, &watcher{step: s})
			if minutes != c.recorded || out.Result.Spend.WallMS != c.left.Milliseconds() || errors.As(err, new(*brain.SpentError)) != c.over || !c.over && err != nil {
				t.Errorf("%s: %d minutes are recorded, and %d ms are left, %v", name, minutes, out.Result.Spend.WallMS, err)
			}
		})
	}
}
