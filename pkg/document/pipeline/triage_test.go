package pipeline

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// play decides and folds commands, one after the other.
func play(t *testing.T, def *workflow.Definition, commands ...instance.Action) (in instance.Instance) {
	t.Helper()
	in.ID = "a"
	for i, do := range commands {
		cmd := instance.Command{ID: string(rune('a' + i)), Instance: "a", At: opened.Add(time.Duration(i) * time.Second), Do: do}
		if take, ok := do.(instance.Claim); ok {
			take.Work, take.Agent, take.Lease = in.Work, "x", time.Minute
			cmd.Do = take
		}
		events, err := instance.Decide(def, in, cmd)
		if err != nil {
			t.Fatalf("%T: %v", do, err)
		}
		in = instance.Evolve(in, instance.Commit{Seq: uint64(i + 1), ID: cmd.ID, At: cmd.At, Events: events})
	}
	return in
}

func TestTriageIsLeftOutByPolicyAndTheCodeIsBroughtAllTheSame(t *testing.T) {
	overlay := fstest.MapFS{"quick.yaml": {Data: []byte("workflow: quick\nversion: 1\nextends: pipeline\npolicy: {triage: false, max_attempts: 5}\n")}}
	defs, err := workflow.LoadDir(overlay)
	if err != nil {
		t.Fatal(err)
	}
	def := defs[0]
	in := play(t, def, instance.Open{Issue: instance.Issue{Title: "t"}}, instance.Claim{Role: "committer"},
		instance.Report{Token: 1, Result: instance.Result{Status: instance.Success, Summary: "main is at c0ffee", Base: "c0ffee", Bundle: "git/1"}})
	if in.State != "analyst" || in.Worker() != "analyst" || in.Base != "c0ffee" || !Applies(def) {
		t.Errorf("it is in %s, at %q", in.State, in.Base)
	}
	if d := Of(in, 5); d.Triage.Completed || d.Pipeline.CurrentAgent != "analyst" || d.Pipeline.MaxAttempts != 5 {
		t.Errorf("the document is %+v", d)
	}
}
