package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

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

type known struct{ *workflow.Catalog }

func (k known) Hashed(_ context.Context, hash string) (*workflow.Definition, error) {
	if d, ok := k.Catalog.Hashed(hash); ok {
		return d, nil
	}
	return nil, workflow.ErrUnknown
}

// past is a log and what engines on it are made of.
type past struct {
	store eventstore.Store
	defs  known
	n     int
	at    time.Time

	direct int // pieces of work that were given to who waited
}

func newPast(t rapid.TB) *past {
	def, err := workflow.Load("ranked", []byte(ranked))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := workflow.Load("plain", []byte(strings.NewReplacer("workflow: ranked", "workflow: plain", "order: [vars.urgency]\n", "").Replace(ranked)))
	if err != nil {
		t.Fatal(err)
	}
	return &past{store: memory.New(), defs: known{workflow.NewCatalog(def, plain)}, at: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)}
}

func (p *past) engine(s *Snapshots) *Engine {
	return New(Config{Store: p.store, Definitions: p.defs, Now: func() time.Time { return p.at }, Snapshots: s})
}

// run follows the log with e until f returns, and completes it before.
func run(t rapid.TB, e *Engine, f func()) {
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

// act gives e a command of some kind for one of a few instances; most are taken.
func (p *past) act(t *rapid.T, e *Engine) {
	p.n++
	p.at = p.at.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "seconds")) * time.Second)
	id := fmt.Sprint("i-", rapid.IntRange(0, 7).Draw(t, "instance"))
	now := e.view.at(id).in
	token, text := now.Tokens, fmt.Sprint("text ", p.n)
	result := func(s instance.Status) instance.Action {
		return instance.Report{Token: token, Result: instance.Result{Status: s, ConfidenceScore: 0.5, Summary: text, Head: text, Bundle: text,
			Spend: instance.Cost{TokensIn: 1 << 31, USD: 0.25, WallMS: 1 << 31}, Questions: []string{text}, FailureSignature: "same",
			Evidence: []instance.Evidence{{Name: "tests", OK: p.n%2 == 0, Failed: []string{"a"}, Data: map[string]string{"k": text}}}}}
	}
	var after []string
	if p.n%3 == 0 {
		after = []string{"i-0", "i-9"}
	}
	take := instance.Claim{Role: now.Worker(), Agent: fmt.Sprint("agent-", p.n%3), Work: now.Work, Lease: time.Minute}
	do := rapid.SampledFrom([]instance.Action{
		take, take, take, result(instance.Success), result(instance.Success), result(instance.Blocked), result(instance.Failure),
		instance.Open{Issue: instance.Issue{Title: text, Repo: "acme/widgets", Labels: []string{"bug"}}, After: after, Parent: "i-p"},
		instance.Open{Issue: instance.Issue{Title: text}}, instance.Note{Kind: "note", Text: text}, instance.Fail{Token: token, Reason: text},
		instance.Escalate{Token: token, Reason: text, RequiresHuman: p.n%2 == 0}, instance.Resolve{Text: text},
		instance.Inquire{Token: token, Questions: []instance.Inquiry{{To: "judge", Question: text}}},
		instance.Pause{Reason: text}, instance.Resume{Reason: text}, instance.Cancel{Reason: text},
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
		e.Wait(instance.Claim{Role: role, Agent: fmt.Sprint("agent-", p.n%3), Lease: time.Minute}, time.Hour, func(_ Outcome, err error) {
			if err == nil {
				p.direct++ // as the command is carried out
			}
		})
	}
	_, err := e.Handle(t.Context(), instance.Command{ID: fmt.Sprint("command-", p.n), Instance: id, Actor: "test", Do: do}, lifecycle)
	if err != nil && !errors.As(err, new(*instance.Refusal)) {
		t.Fatal(err)
	}
}

// state is all of a view that decisions and lists are made from.
type state struct {
	Live   map[string]instance.Instance
	Record map[string]record
	Ended  map[string]instance.Instance
	Heads  map[string]digest
	Gave   map[uint64]string
	Claims map[string][]uint64
	Work   map[string]piece
	Queued map[string]string // roles
	Direct map[string]bool
	Seq    uint64
	Chain  string
}

func (v *view) state() state {
	s := state{map[string]instance.Instance{}, map[string]record{}, map[string]instance.Instance{}, map[string]digest{}, v.gave, v.claims, map[string]piece{}, map[string]string{}, v.direct, v.seq, v.chain}
	for role, at := range v.lines.of {
		n := 0
		for id, is := range v.queued {
			if is.at == at {
				s.Queued[id] = role
				n++
			}
		}
		if n != at.queued.all {
			s.Queued[role] = fmt.Sprintf("%d are counted, there are %d", at.queued, n)
		}
	}
	for id, n := range v.live {
		r := *n.record
		r.own = false
		s.Live[id], s.Record[id] = n.in, r
	}
	for id, o := range v.ended {
		s.Ended[id], s.Heads[id] = o.instance(id), o.head
	}
	for _, some := range v.work {
		for id, p := range some {
			one := *p
			one.rank = nil
			s.Work[id] = one
		}
	}
	return s
}

// What an engine knows after a snapshot and the rest of the log is what one knows
// that read all of it.
func TestASnapshotAndTheRestOfTheLogAreTheWholeLog(t *testing.T) {
	direct := 0
	rapid.Check(t, func(t *rapid.T) {
		p, kept := newPast(t), newShelf()
		ignored := func(err error) { t.Fatalf("a snapshot was ignored: %v", err) }
		for range rapid.IntRange(1, 5).Draw(t, "runs") {
			e := p.engine(kept.snapshots("log", 1, ignored))
			run(t, e, func() {
				for range rapid.IntRange(0, 40).Draw(t, "commands") {
					p.act(t, e)
				}
				if rapid.Bool().Draw(t, "snapshot") {
					if err := e.catchUp(t.Context()); err != nil {
						t.Fatal(err)
					}
					if err := e.Snapshot(t.Context(), rapid.Bool().Draw(t, "last")); err != nil {
						t.Fatal(err)
					}
				}
				for range rapid.IntRange(0, 10).Draw(t, "more") {
					p.act(t, e)
				}
			})
			e.Dismiss()
		}
		direct += p.direct
		restored, whole := p.engine(kept.snapshots("log", 1, ignored)), p.engine(nil)
		run(t, restored, func() {})
		run(t, whole, func() {})
		if diff := cmp.Diff(whole.view.state(), restored.view.state(), cmpopts.EquateEmpty(), cmp.AllowUnexported(record{}, taken{}, piece{}), cmpopts.IgnoreFields(piece{}, "rank"),
			cmpopts.SortSlices(func(a, b uint64) bool { return a < b })); diff != "" {
			t.Fatalf("-the whole log +the snapshot and the rest:\n%s", diff)
		}
		if len(kept.parts) > 0 && restored.view.cutAt == 0 {
			t.Fatal("the snapshot was not used")
		}
		for id := range whole.view.direct {
			if n := whole.view.live[id]; n == nil || !n.in.Direct {
				t.Fatalf("%s is in no queue: %+v", id, n)
			}
		}
		for who, miscounted := range whole.view.state().Queued {
			if strings.Contains(miscounted, "counted") {
				t.Fatalf("%s: %s", who, miscounted)
			}
		}
	})
	if direct == 0 {
		t.Error("nobody was given anything: this proves nothing of it")
	}
}
