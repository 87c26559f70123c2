package instance_test

import (
	"crypto/sha256"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func TestAnyCommandsOnTheIssueLifecycle(t *testing.T) {
	def, next := issue(t, "max_iterations: 4"), issue(t, "max_iterations: 5") // so that some get there
	rapid.Check(t, func(t *rapid.T) { compareRuns(t, def, next) })
}

func TestAnyCommandsOnAnyLifecycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { compareRuns(t, anyLifecycle(t), anyLifecycle(t)) })
}

func TestAnyCommandsOnTheOtherLifecycles(t *testing.T) {
	names := []string{"pipeline", "story", "task"}
	defs, next := map[string]*workflow.Definition{}, map[string]*workflow.Definition{}
	for _, name := range names {
		overlay := "version: 1\nextends: " + name + "\npolicy: {max_faults: "
		defs[name] = define(t, "workflow: test\n"+overlay+"3}\n")
		next[name] = define(t, "workflow: test\n"+overlay+"4}\n")
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "lifecycle")
		compareRuns(t, defs[name], next[name])
	})
}

// FuzzDecide reads its choices of commands from the bytes. Fuzz it with
// -fuzzminimizetime=10x: minimizing an input takes longer than finding one.
func FuzzDecide(f *testing.F) {
	def := issue(f)
	for seed := range byte(16) {
		var data []byte
		for block := sha256.Sum256([]byte{seed}); len(data) < 128; block = sha256.Sum256(block[:]) {
			data = append(data, block[:]...)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 512 {
			t.Skip("long enough")
		}
		p, d := newComparison(def, nil), diceFromBytes(&data)
		for len(data) > 0 && p.in.Closed == "" {
			switch d("what", 4) {
			case 0:
				p.send(t, d, arbitraryCommand(d, p.fixture))
			case 1:
				p.advance(d)
			default:
				p.send(t, d, plausibleCommand(d, p.fixture))
			}
		}
		p.compare(t)
	})
}

func anyLifecycle(t *rapid.T) *workflow.Definition {
	text := lifecycle(t)
	def, err := workflow.Load("drawn.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return def
}

// compareRuns sends drawn commands to Decide and to the model and compares them
// after each.
func compareRuns(t *rapid.T, def, next *workflow.Definition) {
	p := newComparison(def, next)
	sense := func(t *rapid.T) {
		if p.in.Closed != "" {
			p = newComparison(def, next)
		}
		p.send(t, diceFromRapid(t), plausibleCommand(diceFromRapid(t), p.fixture))
	}
	anyhow := func(t *rapid.T) { p.send(t, diceFromRapid(t), arbitraryCommand(diceFromRapid(t), p.fixture)) }
	t.Repeat(map[string]func(*rapid.T){
		"a sensible command":       sense,
		"another sensible command": sense,
		"yet one more of them":     sense,
		"still another":            sense,
		"any command":              anyhow,
		"any command on a claim": func(t *rapid.T) {
			if p.in.Claim == nil {
				sense(t)
			}
			anyhow(t)
		},
		"time passes": func(t *rapid.T) { p.advance(diceFromRapid(t)) },
		"":            func(t *rapid.T) { p.compare(t) },
	})
}

// comparison runs the core and the model side by side.
type comparison struct {
	*fixture
	model      model
	invariants invariants
}

func newComparison(def, next *workflow.Definition) *comparison {
	p := &comparison{fixture: newFixture(def), model: newModel(def), invariants: invariants{def: def}}
	p.next = next
	return p
}

// advance moves the clock, sometimes backwards.
func (p *comparison) advance(d dice) {
	p.now = p.now.Add(one(d, "time", time.Second, lease-time.Second, lease, time.Hour, -10*time.Second))
}

func (p *comparison) send(t rapid.TB, d dice, do instance.Action) {
	cmd := p.command(one(d, "actor", "ann", "bob", "", "r1/a1", "github:acme/ann"), do)
	if d("tampered", 100) == 99 {
		cmd.ID = ""
	}
	def := p.def
	if _, migrates := do.(instance.Migrate); migrates && p.next != nil && d("back", 4) > 0 {
		def = p.next
	}
	before := dump(t, p.in)
	events, err := instance.Decide(def, p.in, cmd)
	again, againErr := instance.Decide(def, p.in, cmd)
	if diff := cmp.Diff(events, again); diff != "" || (err == nil) != (againErr == nil) {
		t.Fatalf("%T %+v is decided differently the second time: %v, %v\n%s", do, do, err, againErr, diff)
	}
	if diff := cmp.Diff(before, dump(t, p.in)); diff != "" {
		t.Fatalf("%T %+v: Decide wrote to its instance:\n%s", do, do, diff)
	}
	var no *instance.Refusal
	if err != nil && (!errors.As(err, &no) || no.What == "" || events != nil) {
		t.Fatalf("%T %+v: %v with %v, want a refusal that says why", do, do, err, events)
	}
	p.checkDirectClaim(t, def, cmd, events, err)
	kept, code := p.model.decide(def, cmd)
	if (no == nil) != (code == "") || no != nil && no.Code != code {
		t.Fatalf("in %s, %T %+v: Decide says %v, the model %q", p.in.State, do, do, err, code)
	}
	if err != nil {
		return
	}
	if d("a person waits", 3) == 0 {
		events, kept = p.sendWithWaiter(t, d, def, cmd, kept)
	}
	if def != p.def {
		p.def, p.next = p.next, p.def
		p.invariants.def = def
	}
	commit := instance.Commit{Seq: uint64(len(p.log) + 1), ID: cmd.ID, At: cmd.At, Actor: cmd.Actor, Events: events}
	if err := p.invariants.check(commit); err != nil {
		t.Fatalf("in %s, %T %+v: %v", p.in.State, do, do, err)
	}
	redecided, err := new(instance.Decider).Redecide(def, p.in, commit)
	if diff := cmp.Diff(admitted(events), admitted(redecided), cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Fatalf("in %s, %T %+v is redecided otherwise: %v\n%s", p.in.State, do, do, err, diff)
	}
	next := instance.Evolve(p.in, commit)
	after := dump(t, next)
	instance.Evolve(p.in, everything(1001)) // a sibling
	instance.Evolve(next, everything(1002)) // a child
	if before != dump(t, p.in) || after != dump(t, next) {
		t.Fatalf("%T %+v: Evolve wrote to what another instance holds", do, do)
	}
	p.log, p.in, p.model = append(p.log, commit), next, kept
}

// admitted returns the events without the statements that were refused: the log does not keep those whole.
func admitted(events []instance.Event) []instance.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e instance.Event) bool {
		_, refused := e.(instance.StatementRefused)
		return refused
	})
}

// compare compares the fold with the model and with a replay.
func (p *comparison) compare(t rapid.TB) {
	t.Helper()
	if diff := cmp.Diff(p.model.view(), viewOf(p.in), cmpopts.EquateEmpty(), cmp.AllowUnexported(asked{}, escalation{})); diff != "" {
		t.Fatalf("-model +instance:\n%s", diff)
	}
	if replayed := instance.Fold(p.in.ID, p.log); dump(t, p.in) != dump(t, replayed) {
		t.Fatalf("-step by step +replayed:\n%s", cmp.Diff(p.in, replayed))
	}
	if p.invariants.work != p.in.Work || p.invariants.direct != p.in.Direct {
		t.Fatalf("work %d, direct %v, but the log says %d, %v", p.in.Work, p.in.Direct, p.invariants.work, p.invariants.direct)
	}
	if p.invariants.state != p.in.State {
		t.Fatalf("in %s, but the moves led to %s", p.in.State, p.invariants.state)
	}
}

// However its agents report, a run on a budget ends or waits for people: each move
// leads to a new state or spends one return. Leaving a wait resets the budget.
func TestEveryRunOfTheIssueLifecycleEnds(t *testing.T) {
	def := issue(t)
	budget := int(def.Policy["max_iterations"].(int64))
	rapid.Check(t, func(t *rapid.T) {
		s := runToEnd(t, def)
		if s.in.Closed != instance.Ended && s.in.Kind != workflow.Wait && waits(s) < patience { // people may say nothing of use for ever
			t.Fatalf("stays in %s", s.in.State)
		}
		if s.in.Iteration > (waits(s)+1)*(len(def.States)+budget) || s.in.Returns > budget {
			t.Errorf("%d moves, %d of them returns: %v", s.in.Iteration, s.in.Returns, s.in.Previous.Slice())
		}
	})
}

func TestEveryRunOfAnyLifecycleStaysInItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		def := anyLifecycle(t)
		budget := int(def.Policy["max"].(int64))
		s := runToEnd(t, def)
		// One return more than the budget: where another limit leads back from a new state.
		if s.in.Returns > budget+1 || s.in.Iteration > (waits(s)+1)*(len(def.States)+budget+1) {
			t.Errorf("%d moves, %d of them returns, on a budget of %d: %v", s.in.Iteration, s.in.Returns, budget, s.in.Previous.Slice())
		}
	})
}

// patience is how often the people of the tests answer.
const patience = 5

// waits counts the waits and escalations that ended.
func waits(s *fixture) int {
	n := 0
	for _, state := range s.in.Previous.Slice() {
		if left, _ := s.def.State(state); left.Kind == workflow.Wait {
			n++
		}
	}
	for _, e := range s.in.Escalations {
		if e.Resolved {
			n++
		}
	}
	return n
}

// runToEnd sends plausible commands until the instance ends, commands no longer
// change it, or people have answered often enough.
func runToEnd(t *rapid.T, def *workflow.Definition) *fixture {
	s := newFixture(def)
	for idle := 0; s.in.Closed == "" && idle < 20 && waits(s) < patience && s.sent < 1000; { // a rule may stay in its state for ever
		before := s.in.Iteration
		do := instance.Action(instance.Resume{})
		if !s.in.Paused {
			do = plausibleCommand(diceFromRapid(t), s)
		}
		_, err := s.send(s.command(one(diceFromRapid(t), "actor", "ann", "bob"), do))
		if err != nil || s.in.Kind == workflow.Wait && s.in.Iteration == before {
			idle++
		}
		if p := s.in.Parked; p != nil && p.Until.After(s.now) {
			s.now = p.Until
		}
	}
	return s
}

// However a task goes wrong, no state fails more than three times before the
// CTO steps in, and the CTO tries it no more than twice (task lifecycle, state invariants).
func TestATaskFailsThreeTimesAStateAndItsCTOTwice(t *testing.T) {
	def, err := workflow.Builtin("task")
	if err != nil {
		t.Fatal(err)
	}
	reached := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		s, d := newFixture(def), diceFromRapid(t)
		attempts := map[uint64]bool{} // by the stay that was claimed
		for s.in.Closed == "" && s.sent < 150 {
			do := plausibleCommand(d, s)
			if r, reports := do.(instance.Report); reports {
				r.Result.Status = one(d, "ends", instance.Failure, instance.Failure, instance.Success)
				do = r
			}
			c, err := s.send(s.command(one(d, "actor", "ann", "cto/cto-1"), do))
			if err != nil {
				continue
			}
			if _, claimed := c.Events[0].(instance.Claimed); claimed && s.in.State == "cto_intervention" {
				attempts[s.in.Entered] = true
			}
			reached[s.in.State] = true
			for _, f := range s.in.Failures {
				if f.Count > 3 {
					t.Fatalf("%d failures in %s: %v", f.Count, f.State, s.in.Previous.Slice())
				}
			}
			if len(attempts) > 2 {
				t.Fatalf("%d attempts of the CTO: %v", len(attempts), s.in.Previous.Slice())
			}
		}
	})
	for _, state := range []string{"cto_intervention", "human_escalation", "quality_review"} {
		if !reached[state] {
			t.Errorf("no task was ever in %s: this proves nothing", state)
		}
	}
}
