package whatif_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/enginetest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/whatif"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

const desk = `
workflow: desk
version: 1
initial: todo
policy: {sure: 0.8, tries: 3, ask: true, warn_at: 0.5, alert_at: 1.0, escalate_at: 1.5}
vars: {size: 0}
from: {vars: {size: clerk}}
limits: [{name: tries, when: "instance.failures >= policy.tries", to: failed, reason: too many tries}]
states:
  todo:
    owner: clerk
    next: [check, question, failed, todo]
    decide:
      - {when: "result.status == 'blocked' && policy.ask", to: question, reason: the clerk asks}
      - {when: "result.status == 'success' && result.confidence_score > policy.sure", to: check, reason: sure enough}
      - {to: todo, failure: true, reason: not sure}
  question:
    timeout: 24h
    next: [todo, failed]
    on:
      commented: [{to: todo}]
      timeout_escalation: [{to: failed, reason: nobody answered}]
  check:
    owner: judge
    next: [done, todo]
    decide: [{when: "result.status == 'success'", to: done}, {to: todo}]
  done: {final: true}
  failed: {final: true}
`

func load(t testing.TB, text string) *workflow.Definition {
	t.Helper()
	def, err := workflow.Load("desk.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return def
}

// record is the history of one instance, made by commands.
type record struct {
	t   *testing.T
	def *workflow.Definition
	in  instance.Instance
	now time.Time
	all []instance.Commit
}

func newRecord(t *testing.T, def *workflow.Definition) *record {
	r := &record{t: t, def: def, in: instance.Instance{ID: "desk/1"}, now: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)}
	r.do("ann", instance.Open{Issue: instance.Issue{Title: "x", Repo: "acme/widgets"}})
	return r
}

func (r *record) do(actor string, a instance.Action) *record {
	r.t.Helper()
	n := uint64(len(r.all) + 1)
	events, err := instance.Decide(r.def, r.in, instance.Command{ID: fmt.Sprint("c", n), Instance: r.in.ID, At: r.now, Actor: actor, Do: a})
	if err != nil {
		r.t.Fatal(err)
	}
	c := instance.Commit{Seq: n, ID: fmt.Sprint("c", n), At: r.now, Actor: actor, Events: events}
	r.all, r.in = append(r.all, c), instance.Evolve(r.in, c)
	return r
}

// step claims the work and reports a result, which costs a dollar.
func (r *record) step(result instance.Result) *record {
	r.t.Helper()
	role := r.in.Worker()
	r.do(role+"/a1", instance.Claim{Role: role, Agent: "a1", Work: r.in.Work, Lease: time.Hour})
	r.now = r.now.Add(time.Minute)
	result.Spend = instance.Cost{USD: 1}
	return r.do(role+"/a1", instance.Report{Token: r.in.Claim.Token, Result: result})
}

func (r *record) after(d time.Duration) *record {
	r.now = r.now.Add(d)
	return r
}

// under decides the record again.
func (r *record) under(alter whatif.Alter) whatif.Case {
	run := whatif.New(r.in.ID, alter, func(hash string) (*workflow.Definition, bool) { return r.def, hash == r.def.Hash })
	for _, c := range r.all {
		run.Add(c)
	}
	return run.Case()
}

func policy(values map[string]any) whatif.Alter {
	return func(def *workflow.Definition) (*workflow.Definition, error) { return def.WithPolicy(values) }
}

func text(from, to string) whatif.Alter {
	return func(*workflow.Definition) (*workflow.Definition, error) {
		return workflow.Load("desk.yaml", []byte(strings.Replace(desk, from, to, 1)))
	}
}

func result(s instance.Status, confidence float64) instance.Result {
	return instance.Result{Status: s, ConfidenceScore: confidence, Summary: "x"}
}

func TestAnotherPolicyChangesWhatItDecides(t *testing.T) {
	success, unsure, blocked := result(instance.Success, 0.85), result(instance.Success, 0.5), result(instance.Blocked, 0.5)
	answer := instance.Signal{Name: "commented", Data: map[string]string{"body": "yes"}}
	completed := func(r *record) { r.step(success).step(success) }
	asked := func(r *record) { r.step(blocked).after(20*time.Hour).do("ann", answer).step(success).step(success) }
	unanswered := func(r *record) {
		r.step(blocked)
		for _, level := range []workflow.Level{workflow.Warning, workflow.Alert, workflow.Escalation} {
			r.after(12*time.Hour).do("orchestrator", instance.Expire{Entered: r.in.Entered, Level: level})
		}
	}
	for name, test := range map[string]struct {
		history func(*record)
		alter   whatif.Alter
		want    string // of summary
	}{
		"the same values":               {completed, policy(map[string]any{"sure": 0.8}), "same; done"},
		"a value that nothing reads":    {completed, policy(map[string]any{"tries": 1}), "same; done"},
		"surer":                         {completed, policy(map[string]any{"sure": 0.9}), "3: check works judge, not todo works clerk: not sure; 1 step, 1 USD; done"},
		"fewer tries":                   {func(r *record) { r.step(unsure).step(unsure); completed(r) }, policy(map[string]any{"tries": 2}), "5: todo works clerk, not failed ends: too many tries; 2 steps, 2 USD; done"},
		"nobody is asked":               {asked, policy(map[string]any{"ask": false}), "3: question asks, not todo works clerk: not sure; 2 steps, 2 USD; done"},
		"an answer that comes too late": {asked, text("timeout: 24h", "timeout: 10h"), "4: question asks, not failed ends: nobody answered; 2 steps, 2 USD; done"},
		"people get more time":          {unanswered, text("timeout: 24h", "timeout: 240h"), "6: failed ends, not question asks: refused: escalation of question is due at 2026-01-17T09:01:00Z; 0 steps, 0 USD; failed"},
		"a move that is not permitted":  {completed, text("\"result.status == 'success'\", to: done", "\"result.status == 'success'\", to: failed"), "5: done ends, not check works judge: refused: check → failed; 0 steps, 0 USD; done"},
		"other words":                   {completed, text("sure enough", "surely"), "same; done"},
		"a definition that is wrong":    {completed, policy(map[string]any{"tries": "x"}), "1: unknown: desk: policy tries: x is no int"},
		"a statement that was refused": {func(r *record) {
			r.step(success).step(instance.Result{Status: instance.Success, Summary: "x", Data: map[string]string{"size": "3"}})
		}, text("from: {vars: {size: clerk}}", "from: {vars: {size: judge}}"), "5: unknown: it would admit size, which the record keeps no value of; done"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord(t, load(t, desk))
			test.history(r)
			if got := summary(r.under(test.alter)); !strings.HasPrefix(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// summary is a case in one line.
func summary(c whatif.Case) string {
	switch {
	case c.Same():
		return "same; " + c.Ended
	case c.Unknown != "":
		return fmt.Sprintf("%d: unknown: %s; %s", c.Seq, c.Unknown, c.Ended)
	}
	landing := func(l whatif.Landing) string {
		return strings.TrimSpace(fmt.Sprintf("%s %s %s", l.State, l.Then, l.Role))
	}
	instead := landing(c.Instead)
	if c.Instead.Reason != "" {
		instead += ": " + c.Instead.Reason
	}
	plural := "s"
	if c.Tail.Steps == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d: %s, not %s; %d step%s, %.0f USD; %s", c.Seq, landing(c.Recorded), instead, c.Tail.Steps, plural, c.Tail.USD, c.Ended)
}

// Whatever engines recorded, the same rules decide it the same way.
func TestTheSameRulesDecideAnyLogTheSameWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := enginetest.New(t)
		e := h.Engine(nil)
		enginetest.Run(t, e, func() {
			for range rapid.IntRange(1, 60).Draw(t, "commands") {
				h.Act(t, e)
			}
		})
		log := whatif.Start(2, policy(nil), h.Definitions.Catalog.Hashed, new(memoryShelf))
		commits := 0
		for _, c := range read(t, h.Store) {
			log.Add(c)
			commits++
		}
		for _, c := range log.End() {
			if commits -= c.Commits; !c.Same() {
				t.Fatalf("%+v", c)
			}
		}
		if commits != 0 {
			t.Fatalf("%d commits are in no case", commits)
		}
	})
}

// read returns the commits of a log.
func read(t rapid.TB, log eventstore.Store) (all []eventstore.Commit) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	whole := false
	err := log.Read(ctx, 1, func(c eventstore.Commit) error { all = append(all, c); return nil }, func() { whole = true; stop() })
	if !whole {
		t.Fatal(err)
	}
	return all
}

// memoryShelf is a Shelf for tests.
type memoryShelf struct {
	mu   sync.Mutex
	data []byte
}

func (s *memoryShelf) Put(data []byte) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data = append(s.data, data...)
	return int64(len(s.data) - len(data)), nil
}

func (s *memoryShelf) Get(at int64, size int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.data[at : at+int64(size)]), nil
}
