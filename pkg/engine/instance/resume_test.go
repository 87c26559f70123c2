package instance_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestTheReasonOfTheNewestMoveHoldsAgainAfterAPause(t *testing.T) {
	in := instance.Instance{}
	for _, e := range []instance.Event{
		instance.Moved{From: "implementing", To: "waiting", Reason: "the questions are asked"},
		instance.Paused{Reason: "lunch"},
		instance.Resumed{Reason: "asked for by ann"},
	} {
		in = instance.Evolve(in, instance.Commit{Events: []instance.Event{e}})
	}
	if in.Reason != "the questions are asked" {
		t.Errorf("it gives the reason %q", in.Reason)
	}
}
