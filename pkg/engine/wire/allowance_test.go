package wire_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/allowance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestWhatIsAskedAboutAnAllowanceIsReadByAnotherClock(t *testing.T) {
	here := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	there := here.Add(-3 * time.Hour)
	limits := func(now time.Time) []allowance.Limit {
		return []allowance.Limit{{Until: now.Add(time.Minute), Words: "403 slow down"}, {Resource: "core", Until: now.Add(time.Hour), Hour: 5000}}
	}
	ask := func(now time.Time) allowance.Ask {
		return allowance.Ask{Holder: allowance.Name("x"), Told: limits(now), Place: &allowance.Place{
			Creates: true, Pace: time.Second, After: now.Add(2 * time.Second), Latest: now.Add(10 * time.Second)}}
	}
	if diff := cmp.Diff(ask(there), wire.ToAsk(wire.Ask(ask(here), here), there)); diff != "" {
		t.Errorf("the question (-want +got):\n%s", diff)
	}
	answer := func(now time.Time) allowance.Answer {
		return allowance.Answer{Taken: true, At: now.Add(3 * time.Second), Limits: limits(now)}
	}
	if diff := cmp.Diff(answer(there), wire.ToAllowance(wire.Allowance(answer(here), here), there)); diff != "" {
		t.Errorf("the answer (-want +got):\n%s", diff)
	}
}

func TestAPartOfAMillisecondMakesNothingSooner(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	part := now.Add(1500 * time.Microsecond)
	asked := wire.Ask(allowance.Ask{Place: &allowance.Place{Pace: 1500 * time.Microsecond, After: part, Latest: part}}, now).GetPlace()
	if asked.GetPaceMs() != 2 || asked.GetAfterMs() != 2 || asked.GetWithinMs() != 1 {
		t.Errorf("%v", asked)
	}
	if got := wire.Allowance(allowance.Answer{At: part}, now); got.GetWaitMs() != 2 {
		t.Errorf("%v", got)
	}
}

func TestATimeThatTheMessageCannotHoldIsTheNearestItCan(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for until, want := range map[time.Time]uint32{now.Add(-time.Hour): 0, now.Add(math.MaxInt64): math.MaxUint32} {
		if got := wire.ReachedLimits([]allowance.Limit{{Until: until, Hour: math.MaxInt}}, now); got[0].GetForMs() != want || got[0].GetHour() != math.MaxInt32 {
			t.Errorf("%v: %v", until, got)
		}
	}
	got := wire.ToReachedLimits([]*pb.ReachedLimit{{ForMs: math.MaxUint32, Hour: math.MaxUint32}}, now)
	if !got[0].Until.After(now) || got[0].Hour != math.MaxInt32 {
		t.Errorf("%v", got)
	}
}
