package agent_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestWorkMayTakeLongerThanALease(t *testing.T) {
	w := newEnv(t, 6*time.Second)
	enough := make(chan struct{})
	w.agent("slow", works(func(ctx context.Context, job agent.Job) (instance.Result, error) {
		select {
		case <-enough:
			return success(), nil
		case <-ctx.Done():
			return instance.Result{}, context.Cause(ctx)
		}
	}))
	w.open("a")
	w.until("a", func(e instance.Event) bool { _, ok := e.(instance.Claimed); return ok })
	w.agent("idle", works(succeed)) // would get what is delivered again
	beats := 0
	w.until("a", func(e instance.Event) bool {
		if _, ok := e.(instance.LeaseExtended); ok {
			beats++
		}
		return beats == 6 // of three in a lease
	})
	close(enough)
	got := names(w.until("a", moved))
	if want := []string{"dispatched", "claimed by slow", "reported by slow", "moved to analyzing_requirements"}; !slices.Equal(got, want) {
		t.Errorf("there came %q, want %q", got, want)
	}
	w.settled()
}

func TestALostClaimEndsTheWorkAndDropsItsResult(t *testing.T) {
	w := newEnv(t, 6*time.Second)
	started, ended := make(chan struct{}, 10), make(chan error, 10)
	k := w.agent("a1", works(func(ctx context.Context, job agent.Job) (instance.Result, error) {
		if job.Token > 1 {
			return success(), nil
		}
		started <- struct{}{}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return success(), nil // all the same
	}))
	w.open("a")
	next(w, started)
	if _, err := w.client.Pause(w.ctx, "a", "a person says stop"); err != nil {
		t.Fatal(err)
	}
	if err := next(w, ended); err == nil {
		t.Error("the work was not told why it ended")
	}
	if got := next(w, k.ended); got.err == nil || got.result.Status != "" {
		t.Errorf("the work is said to have ended with %v, %v", got.result, got.err)
	}
	w.settled()
	if _, err := w.client.Resume(w.ctx, "a", "go on"); err != nil {
		t.Fatal(err)
	}
	got := names(w.until("a", moved))
	want := []string{"dispatched", "claimed by a1", "paused", "resumed", "dispatched", "claimed by a1", "reported by a1", "moved to analyzing_requirements"}
	if !slices.Equal(got, want) {
		t.Errorf("there came %q, want %q", got, want)
	}
}

func TestWorkOfAnAgentThatDiedGoesToAnother(t *testing.T) {
	w := newEnv(t, 5*time.Second)
	consumer, err := w.js.Consumer(w.ctx, "EVENTS", "pm")
	if err != nil {
		t.Fatal(err)
	}
	work := w.open("a")
	if _, err := consumer.Next(); err != nil { // it is delivered to the dead
		t.Fatal(err)
	}
	w.claim("a", "dead", work, time.Second)
	w.agent("heir", works(succeed))
	all := w.until("a", moved)
	claims := of[instance.Claimed](all)
	if len(claims) != 2 || claims[1].Agent != "heir" || claims[1].Lapsed != "dead" || claims[1].Token != 2 {
		t.Errorf("there came %q: %+v", names(all), claims)
	}
}

func TestHeldWorkComesBack(t *testing.T) {
	w := newEnv(t, 5*time.Second)
	work := w.open("a")
	token := w.claim("a", "holder", work, time.Hour) // by a person who was not given the message
	k := w.agent("a1", works(succeed))
	for range 3 {
		w.logged(k, "held by another")
	}
	w.fail("a", token)
	got := names(w.until("a", moved))
	if want := []string{"dispatched", "claimed by holder", "failed by holder", "claimed by a1", "reported by a1", "moved to analyzing_requirements"}; !slices.Equal(got, want) {
		t.Errorf("there came %q, want %q", got, want)
	}
}

func TestWorkThatIsPastIsAcknowledged(t *testing.T) {
	w := newEnv(t, 10*time.Second)
	for _, id := range []string{"again", "paused", "cancelled", "moved"} {
		w.open(id)
	}
	for _, do := range []func() error{
		func() error { _, err := w.client.Retry(w.ctx, "again", "r"); return err },
		func() error { _, err := w.client.Pause(w.ctx, "paused", "r"); return err },
		func() error { _, err := w.client.Cancel(w.ctx, "cancelled", "r"); return err },
		func() error { _, err := w.client.Override(w.ctx, "moved", "implementing", "r"); return err },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	k := w.agent("a1", works(succeed))
	for range 4 {
		w.logged(k, "work is past")
	}
	if got := next(w, k.ended); got.job.Instance != "again" {
		t.Errorf("it worked on %s", got.job.Instance)
	}
	w.settled()
	if got := names(w.until("again", moved)); !slices.Equal(got, []string{"dispatched", "dispatched", "claimed by a1", "reported by a1", "moved to analyzing_requirements"}) {
		t.Errorf("there came %q", got)
	}
}
