package agent_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// blocked is work that ends when it is released.
func blocked(started chan<- struct{}, release <-chan struct{}) works {
	return func(ctx context.Context, job agent.Job) (instance.Result, error) {
		started <- struct{}{}
		select {
		case <-release:
			return success(), nil
		case <-ctx.Done():
			return instance.Result{}, ctx.Err()
		}
	}
}

func TestAReportWaitsForAnOrchestrator(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	started, release := make(chan struct{}, 10), make(chan struct{})
	k := w.agent("a1", blocked(started, release))
	w.open("a")
	next(w, started)
	w.stop()
	close(release)
	w.resume()
	got := names(w.until("a", moved))
	if want := []string{"dispatched", "claimed by a1", "reported by a1", "moved to analyzing_requirements"}; !slices.Equal(got, want) {
		t.Errorf("there came %q, want %q", got, want)
	}
	if got := next(w, k.ended); got.err != nil || got.result.Status != instance.Success {
		t.Errorf("it ended with %v, %v", got.result, got.err)
	}
	w.settled()
}

func TestAnOrchestratorThatIsAwayForLeasesCostsNoStep(t *testing.T) {
	for _, work := range []string{"from the queue", "given directly"} {
		for _, end := range []string{"goes on", "ends meanwhile"} {
			t.Run("work "+work+" "+end, func(t *testing.T) {
				w := newEnv(t, 8*time.Second) // five of them are more than a loaded machine takes to start an orchestrator
				started, release := make(chan struct{}, 10), make(chan struct{})
				k := w.agent("a1", works(func(ctx context.Context, job agent.Job) (instance.Result, error) {
					if job.Instance == "first" {
						return success(), nil // the orchestrator answers this report with the next work
					}
					return blocked(started, release)(ctx, job)
				}))
				if work == "given directly" {
					w.open("first")
					next(w, k.ended)
				}
				w.open("a")
				next(w, started)
				w.agent("idle", works(succeed)) // gets what is nobody's
				w.stop()
				if end == "ends meanwhile" {
					close(release)
				}
				away, cancel := context.WithTimeout(w.ctx, 2*w.settings.AckWait)
				defer cancel()
				<-away.Done()
				w.resume()
				if end == "goes on" {
					w.until("a", func(e instance.Event) bool { // it has been answered since
						x, ok := e.(instance.LeaseExtended)
						return ok && !x.Lapsed
					})
					close(release)
				}
				all := w.until("a", moved)
				if n := len(of[instance.Claimed](all)); n != 1 || !slices.Contains(names(all), "reported by a1") {
					t.Errorf("there came %q", names(all))
				}
				prolonged := slices.ContainsFunc(of[instance.LeaseExtended](all), func(e instance.LeaseExtended) bool { return e.Lapsed })
				if !prolonged {
					t.Error("this proves nothing: the lease had not ended")
				}
			})
		}
	}
}

func TestWithoutAnOrchestratorAReportIsGivenUpAfterFiveLeasesAndTheWorkIsDoneAgain(t *testing.T) {
	w := newEnv(t, time.Second)
	started, release := make(chan struct{}, 10), make(chan struct{})
	k := w.agent("a1", blocked(started, release))
	w.open("a")
	next(w, started)
	w.stop()
	close(release)
	if got := next(w, k.ended); !errors.Is(got.err, client.ErrUnavailable) || got.result.Status != "" {
		t.Errorf("it ended with %v, %v", got.result, got.err)
	}
	w.resume()
	all := w.until("a", moved)
	if got, want := names(all), []string{"dispatched", "claimed by a1", "claimed by a1", "reported by a1", "moved to analyzing_requirements"}; !slices.Equal(got, want) {
		t.Errorf("there came %q, want %q", got, want)
	}
	if c := of[instance.Claimed](all); c[1].Lapsed != "a1" {
		t.Errorf("the second claim is %+v", c[1])
	}
}

func TestWithoutAnOrchestratorAClaimIsLostAfterFiveLeases(t *testing.T) {
	w := newEnv(t, time.Second)
	started := make(chan struct{}, 10)
	k := w.agent("a1", blocked(started, nil))
	w.open("a")
	next(w, started)
	w.stop()
	if got := next(w, k.ended); got.err == nil || got.result.Status != "" {
		t.Errorf("it ended with %v, %v", got.result, got.err)
	}
	w.resume()
	next(w, started) // it is begun again
}

func TestAServerThatRestartsInTheMiddleCostsNothing(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	started, release := make(chan struct{}, 10), make(chan struct{})
	w.agent("a1", blocked(started, release))
	idle := w.agent("idle", works(succeed))
	w.logged(idle, "taking work")
	w.open("a")
	claimed := names(w.until("a", func(e instance.Event) bool { _, ok := e.(instance.Claimed); return ok }))
	w.server.Restart(t)
	close(release)
	got := names(w.until("a", moved))
	if n := len(claimed); !slices.Equal(got[:n], claimed) || len(got) != n+2 {
		t.Errorf("there came %q", got)
	}
	// Who had nothing to do then is still there for what comes.
	w.open("b")
	w.until("b", moved)
	w.settled()
}
