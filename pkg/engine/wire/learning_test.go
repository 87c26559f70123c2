package wire_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

func TestALearningIsReadAsItWasSent(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	want := learning.Learning{ID: "1f", Path: "pkg", Text: "A fact.", By: "tester/a-1", Instance: "acme/1", Trusted: true, At: at,
		State: learning.StateRemoved, ConfirmedBy: "operator:ann", ConfirmedAt: at.Add(1), Used: []string{"acme/2", "acme/3"}, UsedAt: at.Add(2),
		Successes: []string{"acme/2"}, RemovedBy: "operator:bob", RemovedAt: at.Add(3)}
	sent := wire.Learnings([]learning.Learning{want})
	for _, path := range unset(sent[0].ProtoReflect(), "") {
		t.Errorf("the case does not try %s", path)
	}
	alike(t, []learning.Learning{want}, wire.ToLearnings(sent))
}
