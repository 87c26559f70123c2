package agent_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// tests is the work of a tester in two states, one after the other: in the second
// it says that it has begun, and ends as it is told.
type tests struct {
	begun chan agent.Job
	end   chan error
}

func newTests() tests { return tests{make(chan agent.Job, 10), make(chan error)} }

func (k tests) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	r := success()
	if job.State == "creating_tests" {
		r.Next = "updating_tests"
		return r, nil
	}
	k.begun <- job
	select {
	case err := <-k.end:
		return r, err
	case <-ctx.Done():
		return instance.Result{}, ctx.Err()
	}
}

// direct returns an instance whose work the one tester was given with its report
// of the work before, and has begun. Where that came too late, as on a machine
// that has much else to do, it is tried with another.
func (e *env) direct(k tests) (id string) {
	e.Helper()
	for n := 0; ; n++ {
		id := fmt.Sprintf("i%d", n)
		e.open(id)
		if _, err := e.client.Override(e.ctx, id, "creating_tests", "here it begins"); err != nil {
			e.Fatal(err)
		}
		if job := next(e, k.begun); job.Instance != id || job.State != "updating_tests" {
			e.Fatalf("it works on %+v", job.Assignment)
		}
		for _, c := range of[instance.Claimed](e.until(id, func(ev instance.Event) bool { c, ok := ev.(instance.Claimed); return ok && c.Token == 2 })) {
			if c.Direct {
				return id
			}
		}
		select {
		case k.end <- nil:
		case <-e.ctx.Done():
			e.Fatal("it is never given work with its report")
		}
	}
}

// behind are the events behind the claim of what was given directly.
func (e *env) behind(id string) []instance.Event {
	e.Helper()
	all := e.until(id, func(ev instance.Event) bool { m, ok := ev.(instance.Moved); return ok && m.To == "implementing" })
	i := slices.IndexFunc(all, func(ev instance.Event) bool { c, ok := ev.(instance.Claimed); return ok && c.Direct })
	return all[i+1:]
}

func (e *env) follows(id string, want ...string) (all []instance.Event) {
	e.Helper()
	all = e.behind(id)
	if got := names(all); !slices.Equal(got, append(want, "moved to implementing")) {
		e.Errorf("there came %q, want %q", got, want)
	}
	for _, c := range of[instance.Claimed](all) {
		if c.Direct {
			e.Errorf("%s, token %d, was given it directly", c.Agent, c.Token)
		}
	}
	return all
}

func TestWorkThatAReportBringsIsDoneAtOnce(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	k := newTests()
	w.agent("a1", k, as("tester"))
	id := w.direct(k)
	k.end <- nil
	w.follows(id, "reported by a1")
	w.open("last") // and then takes from the queue
	if _, err := w.client.Override(w.ctx, "last", "updating_tests", "here it begins"); err != nil {
		t.Fatal(err)
	}
	if job := next(w, k.begun); job.Instance != "last" {
		t.Errorf("it works on %+v", job.Assignment)
	}
}

func TestHeartbeatsKeepWorkThatCameWithAReport(t *testing.T) {
	w := newEnv(t, 6*time.Second)
	k := newTests()
	w.agent("slow", k, as("tester"))
	id := w.direct(k)
	w.agent("idle", works(succeed), as("tester")) // would get what goes to the queue
	beats := 0
	w.until(id, func(e instance.Event) bool {
		if b, ok := e.(instance.LeaseExtended); ok && b.Token == 2 {
			beats++
		}
		return beats == 4 // of three in a lease
	})
	k.end <- nil
	w.follows(id, "reported by slow")
}

func TestWorkThatCameWithAReportOfAnAgentThatIsKilledGoesToAnother(t *testing.T) {
	w := newEnv(t, 2*time.Second)
	k := newTests()
	killed := w.agent("killed", k, as("tester"))
	id := w.direct(k)
	killed.nc.Close() // it can say nothing any more
	w.agent("heir", works(succeed), as("tester"))
	all := w.follows(id, "dispatched", "claimed by heir", "reported by heir")
	if d := of[instance.Dispatched](all); d[0].Reason != "the lease of killed ran out" {
		t.Errorf("it was dispatched because %q", d[0].Reason)
	}
}

func TestAFaultInWorkThatCameWithAReportIsTriedAgain(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	k := newTests()
	w.agent("a1", k, as("tester"))
	id := w.direct(k)
	k.end <- fmt.Errorf("%w: the disk is full", brain.ErrInfrastructure)
	if job := next(w, k.begun); job.Instance != id || job.Attempt != 1 {
		t.Errorf("it works on %+v", job.Assignment)
	}
	k.end <- nil
	w.follows(id, "failed by a1", "dispatched", "claimed by a1", "reported by a1")
}

func TestAnAgentThatIsStoppedGivesBackWorkThatCameWithAReport(t *testing.T) {
	w := newEnv(t, 40*time.Second) // nobody waits for a lease here
	k := newTests()
	stopping := w.agent("stopping", k, as("tester"))
	id := w.direct(k)
	stopping.stop()
	w.agent("heir", works(succeed), as("tester"))
	w.follows(id, "released by stopping", "dispatched", "claimed by heir", "reported by heir")
}
