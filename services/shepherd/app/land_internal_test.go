package app

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

func TestTheMessageOfAMergeDoesNothing(t *testing.T) {
	for method, want := range map[string]forge.Merge{
		"squash": {Head: "abc", Method: "squash", Title: "`/login` fails (skip ci), fixes # 3, says @ ann (#7)", Body: "Signalbox-Instance: acme/widgets/1\nSignalbox-Verdict: shown greet.TestHello"},
		"merge":  {Head: "abc", Method: "merge", Title: "Merge pull request #7 from topic", Body: "`/login` fails (skip ci), fixes # 3, says @ ann\n\nSignalbox-Instance: acme/widgets/1\nSignalbox-Verdict: shown greet.TestHello"},
		"rebase": {Head: "abc", Method: "rebase"},
	} {
		v := &visit{shepherd: &shepherd{}, job: request{agent.Job{Assignment: brain.Assignment{Instance: "acme/widgets/1"}}}}
		v.snapshot = merge.Snapshot{Number: 7, Head: "abc", HeadRef: "topic", Title: "/login fails [skip ci], fixes #3, says @ann"}
		v.report.Method = method
		v.job.Head = "abc"
		v.job.Evidence = []instance.Evidence{{Name: "acceptance", OK: true, Commit: "abc", Judgement: &verdict.Judgement{Shown: true,
			Tests: []verdict.ShownTest{{Name: "greet.TestHello"}, {Name: "greet.TestBye"}}}}}
		if got := v.merging(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestTheTrailerOfAMergeSaysWhetherItIsShown(t *testing.T) {
	tests := func(name string) instance.Proof {
		return instance.Proof{Shown: true, Judgement: verdict.Judgement{Tests: []verdict.ShownTest{{Name: name}}}}
	}
	for want, proof := range map[string]instance.Proof{
		"Signalbox-Verdict: unproven":                        {},
		"Signalbox-Verdict: unproven no test ran; ask @ ann": {Reason: "no test ran;\nask @ann"},
		"Signalbox-Verdict: shown":                           {Shown: true},
		"Signalbox-Verdict: shown TestHello":                 tests("TestHello"),
		"Signalbox-Verdict: shown greets x y":                tests("greets x\ny"),
		"Signalbox-Verdict: shown @ ann":                     tests("@ann"),
	} {
		if got := (standing{proof: proof}).trailer(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
