package logcheck_test

import (
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

const waitingLifecycle = `
workflow: errand
version: 1
initial: asked
states:
  asked: {timeout: 100s, next: [read], on: {commented: read}}
  read: {owner: worker, next: [asked, done], decide: [{when: "result.confidence_score > 0.5", to: done}, {to: asked, resumes: true}]}
  done: {final: true}
`

func TestTheDeadlinesOfAResumedWaitCountFromWhereItBegan(t *testing.T) {
	d := load(t, waitingLifecycle)
	asked := instance.Opened{Workflow: "errand", Definition: d.Hash, State: "asked", Kind: workflow.Wait, Timeout: 100 * time.Second}
	heard := instance.Moved{From: "asked", To: "read", Owner: "worker", Kind: workflow.Work, Rule: "signal"}
	back := instance.Moved{From: "read", To: "asked", Kind: workflow.Wait, Rule: "decide", Timeout: 100 * time.Second, Resumes: true}
	again := back
	again.Resumes = false
	script := func(back instance.Moved, warnedAt int, after time.Duration) []step {
		return []step{
			{0, "a", events(asked)},
			{50, "a", events(heard, instance.Dispatched{State: "read", Owner: "worker"})},
			{51, "a", events(claimed(1, "worker", "eve", 61))},
			{52, "a", events(reported(1, "worker", "eve", "read"), back)},
			{warnedAt, "a", events(instance.TimedOut{State: "asked", Level: workflow.Warning, After: after})},
		}
	}
	for name, c := range map[string]struct {
		script []step
		want   []string
	}{
		"it is warned 80 s after it began":                      {script(back, 80, 80*time.Second), nil},
		"it is not warned before that":                          {script(back, 70, 70*time.Second), []string{"5 a deadline"}},
		"a wait that begins again is not warned by the old one": {script(again, 80, 28*time.Second), []string{"5 a deadline"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := formatViolations(checkAll(commitsOf(t, c.script), d)); !slices.Equal(got, c.want) {
				t.Errorf("the violations are %q, want %q", got, c.want)
			}
		})
	}
}
