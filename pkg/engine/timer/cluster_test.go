package timer_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// A cluster schedules, checks expectations and removes by other code than a
// single server.
func TestTimersOnACluster(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs three servers")
	}
	servers := natstest.StartCluster(t, 3, natstest.Options{})
	e := &env{T: t, server: servers[0], defs: definitions{load(t, slow)}, watermark: filepath.Join(t.TempDir(), "watermark"), replicas: 3}
	replicas := []*replica{e.replica()}
	e.server = servers[1]
	replicas = append(replicas, e.replica())
	e.js = e.server.JetStream(t)
	all := []string{"a", "b", "c", "d"}
	since := map[string]uint64{}
	for i, in := range all {
		since[in] = replicas[i%2].open(in).Entered
	}
	replicas[1].report("a", instance.Success)
	since["a"] = replicas[0].report("a", instance.Success).Entered
	replicas[0].level("b", workflow.Warning)
	servers[2].Restart(t) // it may lead any of the streams
	for _, in := range all {
		replicas[0].level(in, workflow.Escalation)
		if got := e.timeouts(in, since[in]); !slices.Equal(got, levels) {
			t.Errorf("%s passed %v, want %v", in, got, levels)
		}
	}
}
