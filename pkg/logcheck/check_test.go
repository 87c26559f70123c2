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
	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/logcheck"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// shown is a store that shows what it is told to.
type shown struct {
	eventstore.Store
	log []eventstore.Commit
	err error // after it
}

func (s shown) Read(ctx context.Context, _ uint64, f func(eventstore.Commit) error, caught func()) error {
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

func TestCheckReadsAStoreToItsEnd(t *testing.T) {
	d := table(t)
	log := store(t, script(d))
	find := workflow.NewCatalog(d).Hashed
	t.Run("and no further", func(t *testing.T) {
		r, err := logcheck.Check(t.Context(), shown{log: log}, find)
		if err != nil || r.Commits != len(log) || len(r.Violations) > 0 {
			t.Errorf("got %+v, error %v", r, err)
		}
	})
	t.Run("and says what the store itself finds damaged", func(t *testing.T) {
		r, err := logcheck.Check(t.Context(), shown{log: log[:3], err: fmt.Errorf("%w: sequences 4 to 5 are missing", eventstore.ErrCorrupt)}, find)
		if err != nil || r.Commits != 3 || !slices.Equal(brief(r), []string{"4  sequence"}) {
			t.Errorf("got %+v, error %v", r, err)
		}
	})
	t.Run("or says why it cannot", func(t *testing.T) {
		away := errors.New("the server is away")
		if _, err := logcheck.Check(t.Context(), shown{log: log[:3], err: away}, find); !errors.Is(err, away) {
			t.Errorf("error is %v", err)
		}
	})
}

// definitions is one table, for an engine.
type definitions struct{ *workflow.Definition }

func (d definitions) Named(string) (*workflow.Definition, error) { return d.Definition, nil }

func (d definitions) Hashed(context.Context, string) (*workflow.Definition, error) {
	return d.Definition, nil
}

// Whatever is asked of the engine, what it writes keeps every rule.
func TestNothingTheEngineWritesIsAViolation(t *testing.T) {
	d := table(t)
	find := workflow.NewCatalog(d).Hashed
	moves := 0
	rapid.Check(t, func(t *rapid.T) {
		log, now := memory.New(), nine(0)
		e := engine.New(engine.Config{Store: log, Definitions: definitions{d}, Now: func() time.Time { return now }})
		for i := range rapid.IntRange(1, 60).Draw(t, "commands") {
			now = now.Add(time.Duration(rapid.IntRange(-1, 6).Draw(t, "seconds")) * time.Second)
			id := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "instance")
			in, _ := e.Get(t.Context(), id)
			token := rapid.Uint64Range(max(in.Tokens, 1)-1, in.Tokens).Draw(t, "token")
			do := rapid.SampledFrom([]instance.Action{
				instance.Open{Issue: instance.Issue{Title: "x"}},
				instance.Take{Role: in.Owner, Agent: fmt.Sprintf("agent-%d", i), Work: in.Work, Lease: 10 * time.Second},
				instance.Take{Role: in.Owner, Agent: "eve", Work: in.Work, Lease: 4 * time.Second},
				instance.Heartbeat{Token: token, Lease: 8 * time.Second},
				instance.Report{Token: token, Result: instance.Result{Status: instance.Success}},
				instance.Report{Token: in.Tokens, Result: instance.Result{Status: instance.Failure}},
				instance.Release{Token: token}, instance.Fail{Token: token},
				instance.Pause{}, instance.Resume{}, instance.Retry{}, instance.Remark{Text: "hm"}, instance.Signal{Name: "commented"},
				instance.Override{To: "todo", Reason: "again"}, instance.Cancel{},
			}).Draw(t, "action")
			if _, cancels := do.(instance.Cancel); cancels && i < 40 {
				continue // too early an end
			}
			_, err := e.Handle(t.Context(), instance.Command{ID: fmt.Sprintf("c%d", i), Instance: id, Actor: "test", Do: do}, "chore")
			if err != nil && !errors.As(err, new(*instance.Refusal)) {
				t.Fatal(err)
			}
		}
		r, err := logcheck.Check(t.Context(), log, find)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range r.Violations {
			t.Error(v)
		}
		for _, c := range r.Claims {
			if c.State == "check" {
				moves++
			}
		}
	})
	if moves == 0 {
		t.Error("no work was ever claimed in the second state: this proves nothing")
	}
}
