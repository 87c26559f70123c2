package timer

import (
	"context"
	"log/slog"
	"testing"
	"time"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Two processes that follow the log at their own pace arm the timers of one
// instance, in any order.
func TestWhoLagsBehindNeverReplacesWhatIsNewer(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t, natstest.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	keeper := func() *Keeper {
		js := server.JetStream(t)
		k := New(Config{JetStream: js, Log: slog.New(slog.DiscardHandler)})
		var err error
		if k.stream, err = store.EnsureTimers(ctx, js, 1); err != nil {
			t.Fatal(err)
		}
		return k
	}
	ahead, behind := keeper(), keeper()
	due := time.Now().Add(time.Hour)
	stay := func(seq uint64) Timer {
		return Timer{Instance: "a", Kind: Deadline, Due: due.Add(time.Duration(seq)), Entered: seq, Level: workflow.Warning, Commit: seq}
	}
	for _, step := range []struct {
		who  *Keeper
		arm  uint64
		want uint64
	}{
		{ahead, 1, 1}, {behind, 1, 1}, {ahead, 5, 5}, {behind, 3, 5}, {behind, 5, 5}, {behind, 7, 7}, {ahead, 7, 7}, {ahead, 9, 9},
		{behind, 2, 9},
	} {
		if err := step.who.armAndDisarm(ctx, []Timer{stay(step.arm)}, nil); err != nil {
			t.Fatal(err)
		}
		got, err := ahead.current(ctx, "sb.timer.armed.deadline.a")
		if err != nil || got.Entered != step.want || !got.Due.Equal(stay(step.want).Due) {
			t.Errorf("after arming %d there is %+v, %v, want %d", step.arm, got, err, step.want)
		}
	}
	// One disarms what another has replaced meanwhile.
	if err := behind.armAndDisarm(ctx, []Timer{stay(11)}, nil); err != nil {
		t.Fatal(err)
	}
	for _, who := range []struct {
		*Keeper
		want uint64
	}{{ahead, 11}, {behind, 0}} {
		if err := who.armAndDisarm(ctx, nil, []Timer{stay(11)}); err != nil {
			t.Fatal(err)
		}
		if got, err := who.current(ctx, "sb.timer.armed.deadline.a"); err != nil || got.Entered != who.want {
			t.Errorf("there is %+v, %v, want %d", got, err, who.want)
		}
	}
}
