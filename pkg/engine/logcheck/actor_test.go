package logcheck_test

import (
	"slices"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Each command that its actor may not give is planted in a sound log.
func TestAnActorThatMayNotIsNamed(t *testing.T) {
	d := load(t, gatedLifecycle+"may: {cancel: [tester], pause: [dev, human]}\n")
	append7 := func(e instance.Event) func([]step) []step {
		return func(s []step) []step { return append(s[:4:4], step{5, "a", events(e)}) }
	}
	same := func(s []step) []step { return s }
	for name, c := range map[string]struct {
		plant func([]step) []step
		at    int // position of the commit
		actor string
		want  []string
	}{
		"an agent of the role claims":           {same, 1, "dev/eve", nil},
		"an agent of another role claims":       {same, 1, "tester/pat", []string{"2 a actor"}},
		"an agent of another role reports":      {same, 5, "dev/eve", []string{"6 a actor"}},
		"a person sends a signal":               {same, 4, "github:octocat", nil},
		"an agent sends a signal":               {same, 4, "dev/eve", []string{"5 a actor"}},
		"a role cancels that may":               {append7(instance.CancelledBy{Reason: "x"}), 4, "tester/pat", nil},
		"a role cancels that may not":           {append7(instance.CancelledBy{Reason: "x"}), 4, "dev/eve", []string{"5 a actor"}},
		"a person cancels that may not":         {append7(instance.CancelledBy{Reason: "x"}), 4, "operator:ann", []string{"5 a actor"}},
		"a person pauses that may":              {append7(instance.Paused{}), 4, "operator:ann", nil},
		"an agent pauses that may not":          {append7(instance.Paused{}), 4, "tester/pat", []string{"5 a actor"}},
		"an agent raises a budget":              {append7(instance.BudgetRaised{USD: 1, By: "dev/eve"}), 4, "dev/eve", []string{"5 a actor"}},
		"a person raises a budget":              {append7(instance.BudgetRaised{USD: 1, By: "operator:ann"}), 4, "operator:ann", nil},
		"an agent overrides, which is people's": {append7(instance.Moved{From: "check", To: "done", Kind: workflow.Final, Rule: "override", Override: true}), 4, "dev/eve", []string{"5 a actor"}},
	} {
		t.Run(name, func(t *testing.T) {
			log := commitsOf(t, c.plant(gatedScript(d)))
			by(t, log, c.at, c.actor)
			if got := formatViolations(checkAll(log, d)); !slices.Equal(got, c.want) {
				t.Errorf("it names %q, want %q", got, c.want)
			}
		})
	}
}

// by makes another actor that of a commit. The chain of the log, which has one instance, is made again.
func by(t *testing.T, log []eventstore.Commit, at int, actor string) {
	t.Helper()
	commit, err := wire.ToCommit(log[at])
	if err != nil {
		t.Fatal(err)
	}
	if log[at].Data, err = wire.Events(actor, commit.Events); err != nil {
		t.Fatal(err)
	}
	chain := ""
	for i, c := range log {
		log[i].Chain = eventstore.NextChain(chain, c)
		chain = log[i].Chain
	}
}
