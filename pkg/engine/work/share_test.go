package work_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

func TestPeopleReadWhatWasSpentOnWhatAndWhatIsUnknown(t *testing.T) {
	spent := func(c instance.Cost) instance.Event { return instance.Spent{Spend: c} }
	commits := []instance.Commit{{Events: []instance.Event{
		instance.Claimed{Role: "analyst"}, spent(instance.Cost{USD: 1, TokensIn: 90, TokensOut: 10, Brain: "model:a/b"}),
		instance.Reported{Role: "analyst", Result: instance.Result{Spend: instance.Cost{WallMS: 2000, Brain: "model:a/b"}}},
		instance.Claimed{Role: "developer"}, spent(instance.Cost{WallMS: 60_000, Brain: "exec:x"}),
		instance.Reported{Role: "developer", Result: instance.Result{Spend: instance.Cost{WallMS: 30_000, Brain: "exec:x"}}},
	}}, {Events: []instance.Event{
		instance.Reported{Role: "developer", Result: instance.Result{Spend: instance.Cost{USD: 4, TokensIn: 7, Brain: "model:a/b"}}},
		instance.Reported{Role: "tester", Result: instance.Result{Spend: instance.Cost{WallMS: 9000, Brain: "rules"}}},
		instance.Reported{Role: "pm"},
	}}}
	var said []string
	for _, s := range work.Shares(commits) {
		said = append(said, s.String())
	}
	want := "developer with model:a/b $4.00, 7 tokens; analyst with model:a/b $1.00, 100 tokens, 2s; " +
		"developer with exec:x tokens and dollars unknown, 1m30s; tester with rules 9s"
	if got := strings.Join(said, "; "); got != want {
		t.Errorf("people read\n%s, want\n%s", got, want)
	}
}
