// Package enginetest makes logs for tests: random histories of a few instances, made by
// engines, and snapshots in memory.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// ranked is a lifecycle with an order. History has the same without one, as "plain".
const ranked = `
workflow: ranked
version: 1
initial: todo
vars: {urgency: 3, note: ""}
order: [vars.urgency]
limits: [{name: enough, when: "instance.returns >= 6", to: done}]
states:
  todo:
    owner: worker
    timeout: 30m
    next: [check, done, todo]
    decide:
      - {when: "result.status == 'success'", to: check, set: {note: seen}}
      - {when: "result.status == 'blocked'", to: todo, failure: true}
      - {to: done, failure: true}
  check: {owner: judge, next: [todo, done], decide: [{when: "result.status == 'success'", to: done}, {to: todo}]}
  done: {final: true}
`

// Definitions are the lifecycles of a History.
type Definitions struct{ *workflow.Catalog }

// Hashed implements engine.Definitions.
func (d Definitions) Hashed(_ context.Context, hash string) (*workflow.Definition, error) {
	if def, ok := d.Catalog.Hashed(hash); ok {
		return def, nil
	}
	return nil, workflow.ErrUnknown
}

// History is a log, and all that engines need to go on with it.
type History struct {
	Store       eventstore.Store
	Definitions Definitions
	Commands    int       // that were given
	At          time.Time // of the clock
	Direct      int       // pieces of work that agents were given that waited
}

// New returns an empty history, with a lifecycle "ranked" that has an order and one
// "plain" that has none.
func New(t rapid.TB) *History {
	def, err := workflow.Load("ranked", []byte(ranked))
	if err != nil {
		t.Fatal(err)
	}
	orderless := strings.NewReplacer("workflow: ranked", "workflow: plain", "order: [vars.urgency]\n", "").Replace(ranked)
	plain, err := workflow.Load("plain", []byte(orderless))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	return &History{Store: memory.New(), Definitions: Definitions{workflow.NewCatalog(def, plain)}, At: start}
}

// Engine returns an engine on the log.
func (h *History) Engine(s *snapshot.Config) *engine.Engine {
	return engine.New(engine.Config{Store: h.Store, Definitions: h.Definitions, Now: func() time.Time { return h.At }, Snapshots: s})
}

// Follower is an engine or a projection.
type Follower interface {
	Follow(ctx context.Context, caught func()) error
	Complete(ctx context.Context) error
}

// Run follows the log, completes, and calls f. It stops when f returns.
func Run(t rapid.TB, e Follower, f func()) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	caught, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- e.Follow(ctx, func() { close(caught) }) }()
	select {
	case <-caught:
	case err := <-ended:
		t.Fatal(err)
	}
	if err := e.Complete(ctx); err != nil {
		t.Fatal(err)
	}
	f()
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("following ended with %v", err)
	}
}

// Save saves a snapshot of all that is in the log.
func Save(t testing.TB, e *engine.Engine) {
	t.Helper()
	if err := e.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Snapshot(t.Context(), true); err != nil {
		t.Fatal(err)
	}
}

// Life brings an instance to its end, or leaves it claimed.
func (h *History) Life(t testing.TB, e *engine.Engine, id string, ends bool) {
	var now instance.Instance
	do := func(a instance.Action) {
		t.Helper()
		h.Commands++
		out, err := e.Handle(t.Context(), instance.Command{ID: fmt.Sprint("command-", h.Commands), Instance: id, Actor: "test", Do: a}, "ranked")
		if err != nil {
			t.Fatal(err)
		}
		now = out.Instance
	}
	do(instance.Open{Issue: instance.Issue{Title: "the title of " + id}})
	do(instance.Claim{Role: "worker", Agent: "agent", Work: now.Work, Lease: time.Hour})
	id = now.ID // the most urgent there was
	if ends {
		do(instance.Report{Token: now.Tokens, Result: instance.Result{Status: instance.Failure}})
	}
}

// Act gives e a random command of some kind for one of a few instances; most are taken.
func (h *History) Act(t *rapid.T, e *engine.Engine) {
	h.Commands++
	h.At = h.At.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "seconds")) * time.Second)
	id := fmt.Sprint("i-", rapid.IntRange(0, 7).Draw(t, "instance"))
	now, _ := e.Known(id)
	token, text := now.Tokens, fmt.Sprint("text ", h.Commands)
	result := func(s instance.Status) instance.Action {
		return instance.Report{Token: token, Result: instance.Result{Status: s, ConfidenceScore: 0.5, Summary: text, Head: text, Bundle: text,
			Spend: instance.Cost{TokensIn: 1 << 31, USD: 0.25, WallMS: 1 << 31}, Questions: []string{text}, FailureSignature: "same",
			Evidence: []instance.Evidence{{Name: "tests", OK: h.Commands%2 == 0, Failed: []string{"a"}, Data: map[string]string{"k": text}}}}}
	}
	var after []string
	if h.Commands%3 == 0 {
		after = []string{"i-0", "i-9"}
	}
	take := instance.Claim{Role: now.Worker(), Agent: fmt.Sprint("agent-", h.Commands%3), Work: now.Work, Lease: time.Minute}
	do := rapid.SampledFrom([]instance.Action{
		take, take, take, result(instance.Success), result(instance.Success), result(instance.Blocked), result(instance.Failure),
		instance.Open{Issue: instance.Issue{Title: text, Repo: "acme/widgets", Labels: []string{"bug"}}, After: after, Parent: "i-p"},
		instance.Open{Issue: instance.Issue{Title: text}}, instance.Note{Kind: "note", Text: text}, instance.Fail{Token: token, Reason: text},
		instance.Escalate{Token: token, Reason: text, RequiresHuman: h.Commands%2 == 0}, instance.Resolve{Text: text},
		instance.Inquire{Token: token, Questions: []instance.Inquiry{{To: "judge", Question: text}}},
		instance.Pause{Reason: text}, instance.Resume{Reason: text}, instance.Cancel{Reason: text}, instance.Reopen{Reason: text},
		instance.End{Instance: "i-0", State: "done", Well: true}, instance.Signal{Name: "said", Data: map[string]string{"body": text}},
		instance.Expire{Entered: now.Entered, Level: workflow.Warning}, instance.Lapse{Work: now.Work},
	}).Draw(t, "do")
	if !now.Exists() {
		do = instance.Open{Issue: instance.Issue{Title: text}, After: after}
	}
	lifecycle := "ranked"
	if id > "i-3" {
		lifecycle = "plain"
	}
	if role := rapid.SampledFrom([]string{"", "worker", "judge"}).Draw(t, "waits"); role != "" {
		e.Wait(instance.Claim{Role: role, Agent: fmt.Sprint("agent-", h.Commands%3), Lease: time.Minute}, time.Hour,
			func(_ engine.Outcome, err error) {
				if err == nil {
					h.Direct++ // as the command is carried out
				}
			})
	}
	cmd := instance.Command{ID: fmt.Sprint("command-", h.Commands), Instance: id, Actor: "test", Do: do}
	_, err := e.Handle(t.Context(), cmd, lifecycle)
	if err != nil && !errors.As(err, new(*instance.Refusal)) {
		t.Fatal(err)
	}
}
