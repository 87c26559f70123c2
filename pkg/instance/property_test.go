package instance_test

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

func TestAnyCommandsOnTheIssueLifecycle(t *testing.T) {
	def, next := issue(t, "max_iterations: 4"), issue(t, "max_iterations: 5") // so that some get there
	rapid.Check(t, func(t *rapid.T) { tellTwice(t, def, next) })
}

func TestAnyCommandsOnAnyLifecycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { tellTwice(t, anyLifecycle(t), anyLifecycle(t)) })
}

// FuzzDecide reads the bytes as throws of dice about what happens next. Fuzz it
// with -fuzzminimizetime=10x: to make an input shorter takes longer than to find one.
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
		p, d := newPair(def, nil), read(&data)
		for len(data) > 0 && p.in.Closed == "" {
			switch d("what", 4) {
			case 0:
				p.send(t, d, anything(d, p.story))
			case 1:
				p.pass(d)
			default:
				p.send(t, d, sensible(d, p.story))
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

// tellTwice has any commands answered by Decide and by the model, and compares
// them command by command.
func tellTwice(t *rapid.T, def, next *workflow.Definition) {
	p := newPair(def, next)
	sense := func(t *rapid.T) {
		if p.in.Closed != "" {
			p = newPair(def, next)
		}
		p.send(t, drawn(t), sensible(drawn(t), p.story))
	}
	anyhow := func(t *rapid.T) { p.send(t, drawn(t), anything(drawn(t), p.story)) }
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
		"time passes": func(t *rapid.T) { p.pass(drawn(t)) },
		"":            func(t *rapid.T) { p.compare(t) },
	})
}

// pair is one story told by the product and by the model.
type pair struct {
	*story
	model model
	law   law
}

func newPair(def, next *workflow.Definition) *pair {
	p := &pair{story: begin(def), model: newModel(def), law: law{def: def}}
	p.next = next
	return p
}

// pass lets time pass, or turns a clock back.
func (p *pair) pass(d dice) {
	p.now = p.now.Add(one(d, "time", time.Second, lease-time.Second, lease, time.Hour, -10*time.Second))
}

func (p *pair) send(t rapid.TB, d dice, do instance.Action) {
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
		t.Fatalf("%T %+v is not decided twice alike: %v, %v\n%s", do, do, err, againErr, diff)
	}
	if diff := cmp.Diff(before, dump(t, p.in)); diff != "" {
		t.Fatalf("%T %+v: Decide wrote to its instance:\n%s", do, do, diff)
	}
	var no *instance.Refusal
	if err != nil && (!errors.As(err, &no) || no.What == "" || events != nil) {
		t.Fatalf("%T %+v: %v with %v, want a refusal that says why", do, do, err, events)
	}
	p.atOnce(t, def, cmd, events, err)
	kept, code := p.model.answer(def, cmd)
	if (no == nil) != (code == "") || no != nil && no.Code != code {
		t.Fatalf("in %s, %T %+v: Decide says %v, the model %q", p.in.State, do, do, err, code)
	}
	if err != nil {
		return
	}
	if d("somebody waits", 3) == 0 {
		events, kept = p.direct(t, d, def, cmd, kept)
	}
	if def != p.def {
		p.def, p.next = p.next, p.def
		p.law.def = def
	}
	commit := instance.Commit{Seq: uint64(len(p.log) + 1), ID: cmd.ID, At: cmd.At, Actor: cmd.Actor, Events: events}
	if err := p.law.judge(commit); err != nil {
		t.Fatalf("in %s, %T %+v: %v", p.in.State, do, do, err)
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

// compare holds the fold against the model and against a replay.
func (p *pair) compare(t rapid.TB) {
	t.Helper()
	if diff := cmp.Diff(p.model.view(), viewed(p.in), cmpopts.EquateEmpty(), cmp.AllowUnexported(question{}, matter{})); diff != "" {
		t.Fatalf("-model +instance:\n%s", diff)
	}
	if replayed := instance.Fold(p.in.ID, p.log); dump(t, p.in) != dump(t, replayed) {
		t.Fatalf("-step by step +replayed:\n%s", cmp.Diff(p.in, replayed))
	}
	if p.law.work != p.in.Work || p.law.direct != p.in.Direct {
		t.Fatalf("work %d, direct %v, but the log says %d, %v", p.in.Work, p.in.Direct, p.law.work, p.law.direct)
	}
	if p.law.state != p.in.State {
		t.Fatalf("in %s, but the moves led to %s", p.in.State, p.law.state)
	}
}

// However its agents report, a run on a budget ends or comes to wait: each move
// leads to a state that is new or spends one return. Who waited starts afresh.
func TestEveryRunOfTheIssueLifecycleEnds(t *testing.T) {
	def := issue(t)
	budget := int(def.Policy["max_iterations"].(int64))
	rapid.Check(t, func(t *rapid.T) {
		s := run(t, def)
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
		s := run(t, def)
		// One return more than the budget: where another limit leads back from a new state.
		if s.in.Returns > budget+1 || s.in.Iteration > (waits(s)+1)*(len(def.States)+budget+1) {
			t.Errorf("%d moves, %d of them returns, on a budget of %d: %v", s.in.Iteration, s.in.Returns, budget, s.in.Previous.Slice())
		}
	})
}

// patience is how often people of the tests answer.
const patience = 5

// waits counts how often somebody was waited for and came.
func waits(s *story) int {
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

// run works an instance until it ends, until nothing more can be taken, or
// until people are tired of answering.
func run(t *rapid.T, def *workflow.Definition) *story {
	s := begin(def)
	for vain := 0; s.in.Closed == "" && vain < 20 && waits(s) < patience && s.sent < 1000; { // who may stay, may stay for ever
		before := s.in.Iteration
		do := instance.Action(instance.Resume{})
		if !s.in.Paused {
			do = sensible(drawn(t), s)
		}
		_, err := s.send(s.command(one(drawn(t), "actor", "ann", "bob"), do))
		if err != nil || s.in.Kind == workflow.Wait && s.in.Iteration == before {
			vain++
		}
		if p := s.in.Parked; p != nil && p.Until.After(s.now) {
			s.now = p.Until
		}
	}
	return s
}
