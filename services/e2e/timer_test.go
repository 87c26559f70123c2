package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/subject"
)

const defaultTimers = 500 // without SIGNALBOX_TIMERS

// staying is a lifecycle of instances that do nothing but stay.
const stayLifecycle = `
workflow: %s
version: 1
initial: here
states:
  here:
    owner: nobody
    timeout: %s
    next: [away]
    decide: [{to: away}]
  away: {final: true}
`

// Timers are armed, then the orchestrators and the nats-server are killed twice,
// once until the first deadlines are over and once while others pass: none is
// lost, none comes twice or early or for a state that was left.
func TestTimersOutliveEverything(t *testing.T) {
	t.Parallel()
	n := intFromEnv(t, "SIGNALBOX_TIMERS", defaultTimers)
	timeouts := make([]time.Duration, 8) // so that the deadlines are spread
	for i := range timeouts {
		timeouts[i] = max(4*time.Second, time.Duration(n)*6*time.Millisecond) * time.Duration(4+i) / 4
	}
	t.Logf("SIGNALBOX_TIMERS=%d, deadlines from %s to %s after the entry", n, timeouts[0]*4/5, slices.Max(timeouts)*3/2)
	c := newProcessGroup(t, "")
	server, nats := startNATS(t, c, t.TempDir())
	dir := t.TempDir()
	for i, timeout := range timeouts {
		if err := os.WriteFile(filepath.Join(dir, stayWorkflow(i)+".yaml"), fmt.Appendf(nil, stayLifecycle, stayWorkflow(i), timeout), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mark := filepath.Join(t.TempDir(), "watermark")
	orchestrator := func(name string) *process {
		return c.start(t, name, binary(t, "orchestrator"), "--nats", server.url(), "--http", "127.0.0.1:0", "--workflow-dir", dir, "--watermark", mark)
	}
	first, second := orchestrator("orchestrator"), orchestrator("orchestrator-2")
	first.expect(t, `"msg":"running"`)
	second.expect(t, `"msg":"running"`)
	nc, js := server.connect(t)
	log := followDeadlines(t, js, timeouts)

	began := time.Now()
	people := client.New(nc, "operator:test")
	log.openInstances(t, people, n)
	t.Logf("%d instances opened in %s", n, since(began))

	// Timers that are lost altogether are armed anew, by whoever comes first.
	first.kill()
	second.kill()
	if err := js.DeleteStream(t.Context(), subject.TimerStream); err != nil {
		t.Fatal(err)
	}
	first = orchestrator("orchestrator")
	var said struct{ Armed, Took float64 }
	if err := json.Unmarshal([]byte(first.expect(t, `"msg":"timers reconciled"`)), &said); err != nil {
		t.Fatal(err)
	}
	t.Logf("%.0f timers armed in %.2f s: %.0f/s", said.Armed, said.Took/1e9, said.Armed/said.Took*1e9)
	second = orchestrator("orchestrator-2")
	second.expect(t, `"msg":"running"`)
	deadlines := 3 * (n - log.cancelSome(t, people))

	away := func(until time.Time) {
		first.kill()
		second.kill()
		nats.kill()
		down, passed := time.Now(), log.count()
		due := time.NewTimer(time.Until(until))
		<-due.C // while nothing runs
		nats = server.start(t)
		first, second = orchestrator("orchestrator"), orchestrator("orchestrator-2")
		first.expect(t, `"msg":"running"`)
		log.outages = append(log.outages, outage{down, time.Now()})
		t.Logf("down for %s, %d of %d deadlines had passed", since(down), passed, deadlines)
	}
	away(log.lastEntered().Add(timeouts[0]))
	log.await(t, deadlines/2)
	away(time.Now())
	log.await(t, deadlines)
	log.check(t)
}

func stayWorkflow(i int) string { return fmt.Sprint("stays-", i) }

func since(t time.Time) time.Duration { return time.Since(t).Round(10 * time.Millisecond) }
