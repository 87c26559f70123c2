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
	def := issue(t)
	rapid.Check(t, func(t *rapid.T) { tellTwice(t, def) })
}

func TestAnyCommandsOnAnyLifecycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { tellTwice(t, drawn(t)) })
}

// FuzzDecide reads the bytes as the draws of TestAnyCommandsOnTheIssueLifecycle.
func FuzzDecide(f *testing.F) {
	def := issue(f)
	for seed := range byte(8) {
		var draws []byte
		for block := sha256.Sum256([]byte{seed}); len(draws) < 4<<10; block = sha256.Sum256(block[:]) {
			draws = append(draws, block[:]...)
		}
		f.Add(draws)
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { tellTwice(t, def) }))
}

func drawn(t *rapid.T) *workflow.Definition {
	text := lifecycle(t)
	def, err := workflow.Load("drawn.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return def
}

// tellTwice has any commands answered by Decide and by the model, and compares
// them command by command.
func tellTwice(t *rapid.T, def *workflow.Definition) {
	var p *pair
	anew := func() { p = &pair{story: begin(def), model: model{def: def}, law: law{def: def}} }
	anew()
	sense := func(t *rapid.T) {
		if p.in.Closed != "" {
			anew()
		}
		p.send(t, sensible(t, p.story))
	}
	t.Repeat(map[string]func(*rapid.T){
		"a sensible command":       sense,
		"another sensible command": sense,
		"yet one more of them":     sense,
		"still another":            sense,
		"any command":              func(t *rapid.T) { p.send(t, anything(t, p.story)) },
		"any command on a claim": func(t *rapid.T) {
			if p.in.Claim == nil {
				sense(t)
			}
			p.send(t, anything(t, p.story))
		},
		"time passes, or turns back": func(t *rapid.T) {
			p.now = p.now.Add(one(t, "d", time.Second, lease-time.Second, lease, time.Hour, -10*time.Second))
		},
		"": func(t *rapid.T) { p.compare(t) },
	})
}

// pair is one story told by the product and by the model.
type pair struct {
	*story
	model model
	law   law
}

func (p *pair) send(t *rapid.T, do instance.Action) {
	cmd := p.command(one(t, "actor", "ann", "bob", ""), do)
	if one(t, "tampered", append(make([]bool, 99), true)...) {
		cmd.ID = ""
	}
	before := dump(t, p.in)
	events, err := instance.Decide(p.def, p.in, cmd)
	again, againErr := instance.Decide(p.def, p.in, cmd)
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
	kept, code := p.model.answer(cmd)
	if (no == nil) != (code == "") || no != nil && no.Code != code {
		t.Fatalf("in %s, %T %+v: Decide says %v, the model %q", p.in.State, do, do, err, code)
	}
	if err != nil {
		return
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
	p.log, p.in, p.model = append(p.log, commit), next, p.model.with(kept)
}

// compare holds the fold against the model and against a replay.
func (p *pair) compare(t *rapid.T) {
	if diff := cmp.Diff(p.model.view(), viewed(p.in), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("-model +instance:\n%s", diff)
	}
	if replayed := instance.Fold(p.in.ID, p.log); dump(t, p.in) != dump(t, replayed) {
		t.Fatalf("-step by step +replayed:\n%s", cmp.Diff(p.in, replayed))
	}
	if p.law.state != p.in.State {
		t.Fatalf("in %s, but the moves led to %s", p.in.State, p.law.state)
	}
}

// However its agents report, a run on a budget ends: each move leads to a state
// that is new or spends one return.
func TestEveryRunOfTheIssueLifecycleEnds(t *testing.T) {
	def := issue(t)
	budget := int(def.Policy["max_iterations"].(int64))
	rapid.Check(t, func(t *rapid.T) {
		s := run(t, def)
		if s.in.Closed != instance.Ended {
			t.Fatalf("stays in %s", s.in.State)
		}
		if s.in.Iteration > len(def.States)+budget || s.in.Returns > budget {
			t.Errorf("%d moves, %d of them returns: %v", s.in.Iteration, s.in.Returns, s.in.Previous)
		}
	})
}

func TestEveryRunOfAnyLifecycleStaysInItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		def := drawn(t)
		budget := int(def.Policy["max"].(int64))
		s := run(t, def)
		// One return more than the budget: where another limit leads back from a new state.
		if s.in.Returns > budget+1 || s.in.Iteration > len(def.States)+budget+1 {
			t.Errorf("%d moves, %d of them returns, on a budget of %d: %v", s.in.Iteration, s.in.Returns, budget, s.in.Previous)
		}
	})
}

// run works an instance until it ends, or until nothing more can be taken.
func run(t *rapid.T, def *workflow.Definition) *story {
	s := begin(def)
	for refused := 0; s.in.Closed == "" && refused < 20; {
		before := s.in.Iteration
		if _, err := s.send(s.command(one(t, "actor", "ann", "bob"), sensible(t, s))); err != nil || s.in.Kind == workflow.Wait && s.in.Iteration == before {
			refused++
		}
	}
	return s
}
