package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestAnAgentThatIsStoppedGivesItsWorkToAnother(t *testing.T) {
	w := newEnv(t, 40*time.Second) // nobody waits for a lease here
	started := make(chan string, 10)
	stopping := w.agent("stopping", works(func(ctx context.Context, job agent.Job) (instance.Result, error) {
		started <- job.Instance
		<-ctx.Done()
		return instance.Result{}, ctx.Err()
	}))
	w.open("a")
	next(w, started)
	w.agent("free", works(succeed))
	stopping.stop()
	got := names(w.until("a", moved))
	if want := []string{"dispatched", "claimed by stopping", "released by stopping", "dispatched", "claimed by free", "reported by free", "moved to analyzing_requirements"}; !slices.Equal(got, want) {
		t.Errorf("there came %q, want %q", got, want)
	}
	w.settled()
}

func TestWorkThatIsDoneWhenTheAgentIsStoppedIsReported(t *testing.T) {
	w := newEnv(t, 40*time.Second)
	started := make(chan struct{})
	k := w.agent("a1", works(func(ctx context.Context, job agent.Job) (instance.Result, error) {
		close(started)
		<-ctx.Done()
		return success(), nil // it was about to end anyway
	}))
	w.open("a")
	next(w, started)
	k.stop()
	got := names(w.until("a", moved))
	if want := []string{"dispatched", "claimed by a1", "reported by a1", "moved to analyzing_requirements"}; !slices.Equal(got, want) {
		t.Errorf("there came %q, want %q", got, want)
	}
	w.settled()
}

func TestWorkThatEndsWithinTheGraceOfAStoppedAgentIsReported(t *testing.T) {
	w := newEnv(t, 40*time.Second)
	for id, failed := range map[string]error{"a": nil, "b": errors.New("it does not work")} {
		started, end := make(chan struct{}), make(chan struct{})
		k := w.agent("of "+id, works(func(ctx context.Context, job agent.Job) (instance.Result, error) {
			close(started)
			<-end
			return success(), errors.Join(failed, ctx.Err())
		}), func(c *agent.Config) { c.Grace = time.Hour })
		w.open(id)
		next(w, started)
		k.end()
		close(end)
		k.stop()
		all := w.until(id, reported)
		if got, want := names(all), []string{"dispatched", "claimed by of " + id, "reported by of " + id}; !slices.Equal(got, want) {
			t.Errorf("there came %q, want %q", got, want)
		}
		if r := of[instance.Reported](all)[0].Result; (r.Status == instance.Success) != (failed == nil) || strings.Contains(r.Summary, "canceled") {
			t.Errorf("it reports %+v", r)
		}
	}
}

func TestAStoppedAgentTakesNoNewWork(t *testing.T) {
	w := newEnv(t, 40*time.Second)
	k := w.agent("a1", works(succeed))
	w.logged(k, "taking work")
	k.stop()
	w.open("a")
	w.agent("a2", works(succeed))
	if got := names(w.until("a", moved)); !slices.Contains(got, "claimed by a2") {
		t.Errorf("there came %q", got)
	}
}

func TestAnAgentWaitsForItsQueueAndEndsWithIt(t *testing.T) {
	w := newEnv(t, 40*time.Second)
	waiting := func(c *agent.Config) { c.Role = "nobody" }
	k := w.agent("a1", works(succeed), waiting)
	w.logged(k, "no work queue yet")
	k.stop()
}

func TestAnAgentHasAsManyWorkersAsConfigured(t *testing.T) {
	w := newEnv(t, 40*time.Second)
	started, release := make(chan string, 10), make(chan struct{})
	w.agent("a1", works(func(ctx context.Context, job agent.Job) (instance.Result, error) {
		started <- job.Instance
		<-release
		return success(), nil
	}), func(c *agent.Config) { c.Workers = 3 })
	for _, id := range []string{"a", "b", "c", "d"} {
		w.open(id)
	}
	got := []string{next(w, started), next(w, started), next(w, started)}
	slices.Sort(got)
	if !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("at the same time it works on %v", got)
	}
	select {
	case id := <-started:
		t.Errorf("with three workers it works on %s, the fourth", id)
	default:
	}
	close(release)
	w.until("d", moved)
}
