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

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

const lease = 30 * time.Second

func opening() time.Time { return time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC) }

// story is one instance under way, and all that happened to it.
type story struct {
	def  *workflow.Definition
	next *workflow.Definition // what it may migrate to
	in   instance.Instance
	log  []instance.Commit
	now  time.Time
	sent int // commands, refused ones too

	waiting []instance.Claim // agents that wait for work
}

func begin(def *workflow.Definition) *story {
	return &story{def: def, in: instance.Instance{ID: "acme/widgets/42"}, now: opening()}
}

// command wraps an action as the next command, with an id of its own.
func (s *story) command(actor string, do instance.Action) instance.Command {
	s.sent++
	return instance.Command{ID: fmt.Sprintf("c%d", s.sent), Instance: s.in.ID, At: s.now, Actor: actor, Do: do}
}

// send has one command decided and, if it is taken, recorded.
func (s *story) send(cmd instance.Command) (instance.Commit, error) {
	events, _, err := instance.DecideAndClaim(s.def, s.in, cmd, s.waits)
	if err != nil {
		return instance.Commit{}, err
	}
	c := instance.Commit{Seq: uint64(len(s.log) + 1), ID: cmd.ID, At: cmd.At, Actor: cmd.Actor, Events: events}
	s.log = append(s.log, c)
	s.in = instance.Evolve(s.in, c)
	return c, nil
}

// waits takes who waits longest for work of the role.
func (s *story) waits(role string) (instance.Claim, bool) {
	i := slices.IndexFunc(s.waiting, func(a instance.Claim) bool { return a.Role == role })
	if i < 0 {
		return instance.Claim{}, false
	}
	claim := s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return claim, true
}

// step is one thing a test does to a story.
type step func(*story) error

// do sends an action as ann.
func do(a instance.Action) step { return as("ann", a) }

func as(actor string, a instance.Action) step {
	return func(s *story) error {
		_, err := s.send(s.command(actor, a))
		return err
	}
}

func opened() step {
	return do(instance.Open{Issue: instance.Issue{Title: "Greeting is wrong", Author: "ann"}})
}

func wait(d time.Duration) step {
	return func(s *story) error { s.now = s.now.Add(d); return nil }
}

// claim takes the work that there is, for its owner.
func claim(agent string) step {
	return func(s *story) error {
		return do(instance.Claim{Role: s.in.Owner, Agent: agent, Work: s.in.Work, Lease: lease})(s)
	}
}

// report ends the newest claim.
func report(r instance.Result) step {
	return func(s *story) error { return do(instance.Report{Token: s.in.Tokens, Result: r})(s) }
}

// works claims and reports.
func works(r instance.Result) step {
	return func(s *story) error { return errors.Join(claim("a1")(s), report(r)(s)) }
}

// put brings the instance into a state, whatever the table says.
func put(state string) step { return do(instance.Override{To: state, Reason: "the test starts here"}) }

func given(t testing.TB, def *workflow.Definition, steps ...step) *story {
	t.Helper()
	s := begin(def)
	for i, step := range steps {
		if err := step(s); err != nil {
			t.Fatalf("given, step %d: %v", i+1, err)
		}
	}
	return s
}

// issue is the built-in lifecycle with some of its policy changed.
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

// dump is all that an instance holds, as text.
func dump(t rapid.TB, in instance.Instance) string {
	t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
