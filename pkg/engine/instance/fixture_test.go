package instance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

const lease = 30 * time.Second

func opening() time.Time { return time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC) }

// fixture is one instance with its commits, driven by commands.
type fixture struct {
	def  *workflow.Definition
	next *workflow.Definition // definition that it may migrate to
	in   instance.Instance
	log  []instance.Commit
	now  time.Time
	sent int // number of commands, refused ones included

	waiting []instance.Claim // claims of waiting agents
}

func newFixture(def *workflow.Definition) *fixture {
	return &fixture{def: def, in: instance.Instance{ID: "acme/widgets/42"}, now: opening()}
}

// command wraps an action as the next command, with an id of its own.
func (s *fixture) command(actor string, do instance.Action) instance.Command {
	s.sent++
	return instance.Command{ID: fmt.Sprintf("c%d", s.sent), Instance: s.in.ID, At: s.now, Actor: actor, Do: do}
}

// send decides a command and, if it is accepted, applies its events.
func (s *fixture) send(cmd instance.Command) (instance.Commit, error) {
	events, _, err := instance.DecideAndClaim(s.def, s.in, cmd, s.nextWaiter)
	if err != nil {
		return instance.Commit{}, err
	}
	c := instance.Commit{Seq: uint64(len(s.log) + 1), ID: cmd.ID, At: cmd.At, Actor: cmd.Actor, Events: events}
	s.log = append(s.log, c)
	s.in = instance.Evolve(s.in, c)
	return c, nil
}

// nextWaiter removes and returns the claim of the role that has waited longest.
func (s *fixture) nextWaiter(role string) (instance.Claim, bool) {
	i := slices.IndexFunc(s.waiting, func(a instance.Claim) bool { return a.Role == role })
	if i < 0 {
		return instance.Claim{}, false
	}
	claim := s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return claim, true
}

// step is one action on a fixture.
type step func(*fixture) error

// do sends an action as ann.
func do(a instance.Action) step { return as("ann", a) }

func as(actor string, a instance.Action) step {
	return func(s *fixture) error {
		_, err := s.send(s.command(actor, a))
		return err
	}
}

func opened() step {
	return do(instance.Open{Issue: instance.Issue{Title: "Greeting is wrong", Author: "ann"}})
}

func wait(d time.Duration) step {
	return func(s *fixture) error { s.now = s.now.Add(d); return nil }
}

// failUntil gives the work back because of a limit that ends after d.
func failUntil(d time.Duration) step {
	return func(s *fixture) error {
		return do(instance.Fail{Token: s.in.Tokens, Reason: "limit", Until: s.now.Add(d)})(s)
	}
}

// claim claims the newest work for the owner of the state.
func claim(agent string) step {
	return func(s *fixture) error {
		return do(instance.Claim{Role: s.in.Owner, Agent: agent, Work: s.in.Work, Lease: lease})(s)
	}
}

// report ends the newest claim.
func report(r instance.Result) step {
	return func(s *fixture) error { return do(instance.Report{Token: s.in.Tokens, Result: r})(s) }
}

// works claims and then reports.
func works(r instance.Result) step {
	return func(s *fixture) error { return errors.Join(claim("a1")(s), report(r)(s)) }
}

// moveTo overrides the instance into a state.
func moveTo(state string) step {
	return do(instance.Override{To: state, Reason: "the test starts here"})
}

func given(t testing.TB, def *workflow.Definition, steps ...step) *fixture {
	t.Helper()
	s := newFixture(def)
	for i, step := range steps {
		if err := step(s); err != nil {
			t.Fatalf("given, step %d: %v", i+1, err)
		}
	}
	return s
}

// issue returns the built-in issue lifecycle with some of its policy changed.
func issue(t testing.TB, policy ...string) *workflow.Definition {
	t.Helper()
	if len(policy) == 0 {
		def, err := workflow.Builtin("issue")
		if err != nil {
			t.Fatal(err)
		}
		return def
	}
	return define(t, "workflow: issue-test\nversion: 1\nextends: issue\npolicy: {"+strings.Join(policy, ", ")+"}\n")
}

func define(t testing.TB, text string) *workflow.Definition {
	t.Helper()
	def, err := workflow.Load("test.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return def
}

// dump returns an instance as text.
func dump(t rapid.TB, in instance.Instance) string {
	t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
