package merge_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// queued returns a change of a snapshot: its base has a queue, and it stands there so.
func queued(q merge.Queued) func(*merge.Snapshot) {
	return func(s *merge.Snapshot) { s.Protection.Queue, s.Queued = true, &q }
}

func TestAMergeQueueMergesUnlessItWasLeft(t *testing.T) {
	pushed := ready().Pushes[len(ready().Pushes)-1].At
	later, earlier := pushed.Add(time.Minute), pushed.Add(-time.Minute)
	robot := merge.Person{Login: "github-merge-queue[bot]", Bot: true}
	hold(t, merge.GateMethodAllowed, []one{
		{"it can be put in", queued(merge.Queued{}), nil, merge.Pass, "by the merge queue of main"},
		{"it is in", queued(merge.Queued{State: "AWAITING_CHECKS", Position: 2}), nil, merge.Pass, "number 2"},
		{"its checks failed there", queued(merge.Queued{Removed: later, Remover: robot, Reason: "failed_checks"}), nil, merge.Fail, "the queue took it out of the merge queue of main: failed_checks"},
		{"nobody is named", queued(merge.Queued{Removed: later}), nil, merge.Fail, "no reason is given"},
		{"a person took it out", queued(merge.Queued{Removed: later, Remover: ada}), nil, merge.Fail, "ada took it out"},
		{"of an earlier head", queued(merge.Queued{Removed: earlier, Remover: robot}), nil, merge.Pass, "by the merge queue"},
		{"we took it out", queued(merge.Queued{Removed: later, Remover: ready().Self}), nil, merge.Pass, "by the merge queue"},
		{"it was put back", queued(merge.Queued{State: "QUEUED", Position: 1, Removed: later, Remover: robot}), nil, merge.Pass, "number 1"},
		{"that was not read", func(s *merge.Snapshot) { s.Protection.Queue = true }, nil, merge.Unknown, "queue"},
	})
	for name, c := range map[string]struct {
		change func(*merge.Snapshot)
		method string
		checks bool
	}{
		"in":               {queued(merge.Queued{State: "QUEUED"}), merge.MethodQueue, false},
		"failed":           {queued(merge.Queued{Removed: later, Remover: robot}), "", true},
		"taken by a human": {queued(merge.Queued{Removed: later, Remover: ada}), "", false},
		"without a queue":  {func(*merge.Snapshot) {}, "squash", false},
	} {
		s := ready()
		c.change(&s)
		if _, out := s.UnqueuedByChecks(); out != c.checks {
			t.Errorf("%s: taken out by its checks is %t, want %t", name, out, c.checks)
		}
		if got := merge.Assess(s, merge.Rules{}).Method; got != c.method {
			t.Errorf("%s: the method is %q, want %q", name, got, c.method)
		}
	}
}
