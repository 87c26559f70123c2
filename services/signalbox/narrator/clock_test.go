package narrator_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/services/signalbox/narrator"
)

func TestAStepThatTakesLongHasAClockThatTheNextLineReplaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		n := narrator.New(&out, false, 0)
		stop := n.Clock()
		job := agent.Job{Assignment: brain.Assignment{Role: "tester", State: "running_tests"}}
		n.Progressed(job, "running go test")
		before := out.Len()
		time.Sleep(15*time.Second + time.Millisecond)
		synctest.Wait()
		const erase = "\r\x1b[2K"
		want := "          running go test… 5 s" + erase + "          running go test… 10 s" + erase + "          running go test… 15 s"
		if got := out.String()[before:]; got != want {
			t.Errorf("got %q", got)
		}
		before = out.Len()
		n.Ended(job, instance.Result{}, nil, 0)
		time.Sleep(time.Minute)
		synctest.Wait()
		n.Say("done")
		stop()
		if got := out.String()[before:]; got != erase+"done\n" {
			t.Errorf("after the step: %q", got)
		}
	})
}
