package app

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/merge"
)

func TestTheMessageOfAMergeDoesNothing(t *testing.T) {
	for method, want := range map[string]forge.Merge{
		"squash": {Head: "abc", Method: "squash", Title: "`/login` fails (skip ci), fixes # 3, says @ ann (#7)", Body: "Signalbox-Instance: acme/widgets/1"},
		"merge":  {Head: "abc", Method: "merge", Title: "Merge pull request #7 from topic", Body: "`/login` fails (skip ci), fixes # 3, says @ ann"},
		"rebase": {Head: "abc", Method: "rebase"},
	} {
		v := &visit{shepherd: &shepherd{}, job: agent.Job{Assignment: brain.Assignment{Instance: "acme/widgets/1"}}}
		v.snapshot = merge.Snapshot{Number: 7, Head: "abc", HeadRef: "topic", Title: "/login fails [skip ci], fixes #3, says @ann"}
		v.report.Method = method
		if got := v.merging(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
