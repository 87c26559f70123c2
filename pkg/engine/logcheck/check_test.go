package logcheck_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// fakeStore is a store with given commits.
type fakeStore struct {
	eventstore.Store
	log []eventstore.Commit
	err error // after it
}

func (s fakeStore) Read(ctx context.Context, _ uint64, f func(eventstore.Commit) error, caught func()) error {
	for _, c := range s.log {
		if err := f(c); err != nil {
			return err
		}
	}
	if s.err != nil {
		return s.err
	}
	caught()
	<-ctx.Done()
	return ctx.Err()
}

func checkAll(log []eventstore.Commit, known ...*workflow.Definition) logcheck.Report {
	k := logcheck.New(workflow.NewCatalog(known...).Hashed)
	for _, c := range log {
		k.Add(c)
	}
	return k.Report()
}

func TestCheckReadsAStoreToItsEnd(t *testing.T) {
	d := smallLifecycle(t)
	log := commitsOf(t, smallScript(d))
	find := workflow.NewCatalog(d).Hashed
	t.Run("and no further", func(t *testing.T) {
		r, err := logcheck.Check(t.Context(), fakeStore{log: log}, find)
		if err != nil || r.Commits != len(log) || len(r.Violations) > 0 {
			t.Errorf("got %+v, error %v", r, err)
		}
	})
	t.Run("and says what the store itself finds damaged", func(t *testing.T) {
		r, err := logcheck.Check(t.Context(),
			fakeStore{log: log[:3], err: fmt.Errorf("%w: sequences 4 to 5 are missing", eventstore.ErrCorrupt)}, find)
		if err != nil || r.Commits != 3 || !slices.Equal(formatViolations(r), []string{"4  sequence"}) {
			t.Errorf("got %+v, error %v", r, err)
		}
	})
	t.Run("or says why it cannot", func(t *testing.T) {
		away := errors.New("the server is away")
		if _, err := logcheck.Check(t.Context(), fakeStore{log: log[:3], err: away}, find); !errors.Is(err, away) {
			t.Errorf("error is %v", err)
		}
	})
}

// definitions are the engine's definitions.
type definitions struct{ *workflow.Catalog }

func (d definitions) Hashed(_ context.Context, hash string) (*workflow.Definition, error) {
	if found, ok := d.Catalog.Hashed(hash); ok {
		return found, nil
	}
	return nil, workflow.ErrUnknown
}

// TestNothingTheEngineWritesIsAViolation sends drawn commands to an engine. Its log
// keeps every rule, and counts failures as the checker does.
func TestNothingTheEngineWritesIsAViolation(t *testing.T) {
	for _, c := range []struct {
		name    string
		sources []string // the newest last
		seconds int      // at most, between commands
		telling []string // states, or events, without which this proves nothing
	}{
		{"chore", []string{tableSource}, 6, []string{"check", "instance.Released", "instance.Paused", "a claim that waited", "instance.Lapse"}},
		{"errand", []string{richLifecycle, richLifecycle + "policy: {mended: true}\n"}, 20,
			[]string{"help", "instance.Migrated", "instance.TimedOut", "instance.ParkedUntil", "instance.Answered", "instance.Resolved"}},
	} {
		t.Run(c.name, func(t *testing.T) { checkDrawnRun(t, c.name, c.sources, c.seconds, c.telling) })
	}
}

func checkDrawnRun(t *testing.T, name string, sources []string, seconds int, telling []string) {
	known := workflow.NewCatalog()
	hashes := []string{name}
	for _, source := range sources {
		d := load(t, source)
		known.Add(d)
		hashes = append(hashes, d.Hash)
	}
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		log, now := memory.New(), atSecond(0)
		e := engine.New(engine.Config{Store: log, Definitions: definitions{known}, Now: func() time.Time { return now }})
		for i := range rapid.IntRange(20, 80).Draw(t, "commands") {
			now = now.Add(time.Duration(rapid.IntRange(-1, seconds).Draw(t, "seconds")) * time.Second)
			id := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "instance")
			in, _ := e.Get(t.Context(), id)
			other, _ := e.Get(t.Context(), map[string]string{"a": "b", "b": "a"}[id])
			do := drawAction(t, in, other, i)
			if _, cancels := do.(instance.Cancel); cancels && i < 60 {
				continue // too early an end
			}
			asks := name
			if _, migrates := do.(instance.Migrate); migrates {
				asks = rapid.SampledFrom(hashes).Draw(t, "definition")
			}
			if role := rapid.SampledFrom([]string{"", "worker", "judge"}).Draw(t, "waits"); role != "" {
				e.Wait(instance.Claim{Role: role, Agent: fmt.Sprintf("waits-%d", i), Lease: 10 * time.Second}, time.Hour,
					func(engine.Outcome, error) {})
			}
			out, err := e.Handle(t.Context(), instance.Command{ID: fmt.Sprintf("c%d", i), Instance: id, Actor: "test", Do: do}, asks)
			if err != nil && !errors.As(err, new(*instance.Refusal)) {
				t.Fatal(err)
			}
			for _, e := range out.Events {
				seen[fmt.Sprintf("%T", e)]++
				if e, ok := e.(instance.Claimed); ok && e.Direct {
					seen["a claim that waited"]++
				}
			}
			if _, lapses := do.(instance.Lapse); lapses && err == nil {
				seen["instance.Lapse"]++
			}
		}
		e.Dismiss()
		r, err := logcheck.Check(t.Context(), log, known.Hashed)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range r.Violations {
			t.Error(v)
		}
		for _, c := range r.Claims {
			seen[c.State]++
		}
		for _, id := range []string{"a", "b"} {
			in, _ := e.Get(t.Context(), id)
			for _, f := range in.Failures {
				if r.Failures[id][f.State] != f.Count || len(r.Failures[id]) != len(in.Failures) {
					t.Errorf("%s has failed %v, the log says %v", id, in.Failures, r.Failures[id])
				}
			}
		}
	})
	for _, what := range telling {
		if seen[what] == 0 {
			t.Errorf("there was never %s: this proves nothing of it", what)
		}
	}
}

// drawAction draws an action, more often than not a permitted one.
func drawAction(t *rapid.T, in, other instance.Instance, i int) instance.Action {
	last, token := in.Tokens, rapid.Uint64Range(max(in.Tokens, 1)-1, in.Tokens).Draw(t, "token")
	until := time.Time{}
	if in.Parked != nil {
		until = in.Parked.Until
	}
	open := instance.Open{Issue: instance.Issue{Title: "x"}, After: []string{"a", "b"}[rapid.IntRange(1, 2).Draw(t, "after"):]}
	asks := []instance.Inquiry{{To: rapid.SampledFrom([]string{"worker", "judge"}).Draw(t, "asked"), Question: "Which?"}}
	report := func(s instance.Status) instance.Action {
		return instance.Report{Token: last, Result: instance.Result{Status: s, Summary: "That."}}
	}
	take := func(agent string, lease time.Duration) instance.Action {
		return instance.Claim{Role: in.Worker(), Agent: agent, Work: in.Work, Lease: lease}
	}
	expire := func(l workflow.Level) instance.Action { return instance.Expire{Entered: in.Entered, Level: l} }
	freely := []instance.Action{
		open, take(fmt.Sprintf("agent-%d", i), 10*time.Second), take("eve", 4*time.Second),
		instance.Heartbeat{Token: token, Lease: 8 * time.Second}, instance.Release{Token: token}, instance.Fail{Token: token},
		instance.Report{Token: token},
		instance.Pause{}, instance.Resume{}, instance.Retry{}, instance.Lapse{Work: in.Work}, instance.Note{Text: "hm"},
		instance.Migrate{Reason: "mended"},
		instance.Signal{Name: "commented"}, instance.Signal{Name: "merged"}, instance.Resolve{Number: 1}, instance.Answer{Number: 1, Text: "So."},
		expire(workflow.Warning), expire(workflow.Alert), expire(workflow.Escalation),
		instance.Override{To: in.State, Reason: "again"}, instance.Cancel{}, instance.Reopen{Reason: "on"},
	}
	_, escalated := in.Escalation()
	fitting := []instance.Action{take("pat", time.Minute), take("pat", time.Minute), instance.Migrate{Reason: "mended"},
		expire(workflow.Warning)}
	if other.Closed != "" {
		freely = append(freely, instance.End{Instance: other.ID, State: other.State})
		fitting = append(fitting, instance.End{Instance: other.ID, State: other.State})
	}
	switch {
	case !in.Exists():
		fitting = []instance.Action{open}
	case in.Closed != "":
		fitting = []instance.Action{instance.Reopen{Reason: "on"}, instance.Reopen{To: "make"}, instance.Note{Text: "hm"}}
	case in.Paused:
		fitting = []instance.Action{instance.Resume{}}
	case escalated:
		fitting = []instance.Action{instance.Resolve{Text: "go on"}}
	case in.Parked != nil:
		fitting = []instance.Action{instance.Wake{Until: until}}
	case in.Direct && in.Claim == nil:
		fitting = []instance.Action{instance.Lapse{Work: in.Work}}
	case in.Claim != nil:
		fitting = []instance.Action{
			report(instance.Success), report(instance.Failure), report(instance.Failure), report(instance.Blocked),
			instance.Inquire{Token: last, Questions: asks}, instance.Inquire{Token: last, Questions: append(asks, asks...), Head: "c1"},
			instance.Escalate{Token: last, Reason: "stuck", RequiresHuman: true}, instance.Escalate{Token: last, Reason: "fyi"},
			instance.Heartbeat{Token: last, Lease: time.Minute}, expire(workflow.Warning), instance.Ask{Token: last, Text: "Why?"},
			take("joe", time.Minute), instance.Lapse{Work: in.Work}, instance.Prolong{Token: last, Lease: time.Minute},
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "fits") > 0 {
		return rapid.SampledFrom(fitting).Draw(t, "fitting")
	}
	return rapid.SampledFrom(freely).Draw(t, "action")
}
