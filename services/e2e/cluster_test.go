package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/testkit/faultproxy"
)

// clusterEnv is a cluster with orchestrators and a load.
type clusterEnv struct {
	*cluster
	orchestrators []*process
	js            jetstream.JetStream
	load          *load
	injected      map[string]int
}

// TestAClusterLosesNothing kills, cuts off, pauses and restarts servers of a
// three-node cluster under load. Work continues with a majority; without one,
// callers get the reason. No acknowledged command is lost, and all servers have the
// same log.
func TestAClusterLosesNothing(t *testing.T) {
	rounds, seed := intFromEnv(t, "SIGNALBOX_CLUSTER", 0), uint64(intFromEnv(t, "SIGNALBOX_SEED", int(time.Now().UnixNano()%1e6)))
	if rounds == 0 {
		t.Skip("three servers, two orchestrators and a load take two cores for minutes: make cluster")
	}
	for _, sync := range []string{"always", "100ms"} {
		t.Run("flushed "+sync, func(t *testing.T) {
			t.Parallel()
			t.Logf("SIGNALBOX_CLUSTER=%d SIGNALBOX_SEED=%d", rounds, seed)
			binary(t, natsName)
			began := time.Now()
			s := startClusterEnv(t, sync, seed)
			dice := rand.New(rand.NewPCG(seed, 0))
			all := []string{"kill", "cut", "pause"}
			for round := range rounds {
				what := all[round%len(all)]
				if round >= len(all) {
					what = append(all, "cut one way", "restart all in turn", "lose the majority")[dice.IntN(len(all)+3)]
				}
				s.injected[what]++
				s.inject(t, what, dice)
				s.awaitReplicated(t, s.js)
			}
			s.loseMajority(t, dice)
			s.check(t)
			t.Logf("sync %s, seed %d: %d commands acknowledged, %d without an answer for 20 s, %d pieces of work, %v; %s",
				sync, seed, s.load.acked.Load(), s.load.unknown.Load(), s.load.work.Load(), s.injected, since(began))
		})
	}
}

func startClusterEnv(t *testing.T, sync string, seed uint64) *clusterEnv {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lap.yaml"), []byte(lapLifecycle), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newProcessGroup(t, "")
	s := &clusterEnv{cluster: startCluster(t, c, sync), injected: map[string]int{}}
	flushed := map[string]string{"always": "0s"}[sync]
	if flushed == "" {
		flushed = sync
	}
	for i := range 2 {
		name := fmt.Sprint("orchestrator-", i+1)
		s.orchestrators = append(s.orchestrators, c.start(t, name, binary(t, "orchestrator"), "--name", name,
			"--nats", s.urls(i), "--http", "127.0.0.1:0", "--replicas", "3", "--sync", flushed, "--ack-wait", "10s", "--workflow-dir", dir))
	}
	for _, p := range s.orchestrators {
		p.expect(t, `"msg":"running"`)
	}
	_, s.js = connectTo(t, s.urls(0))
	s.awaitReplicated(t, s.js)
	s.load = s.cluster.load(t, seed)
	s.load.awaitProgress(t, "at the start", 20)
	return s
}

// inject injects one fault on one node or all, checks that work continues, and ends
// the fault.
func (s *clusterEnv) inject(t *testing.T, what string, dice *rand.Rand) {
	t.Helper()
	i := dice.IntN(clusterNodes)
	for range map[string]int{"restart all in turn": clusterNodes}[what] {
		s.nodes[i].process.terminate(t)
		s.load.awaitProgress(t, s.nodes[i].name+" is being restarted", 10)
		s.start(t, i)
		s.awaitReplicated(t, s.js)
		i = (i + 1) % clusterNodes
	}
	during := func() { s.load.awaitProgress(t, what+" "+s.nodes[i].name, 30) }
	switch what {
	case "kill":
		s.nodes[i].process.kill()
		during()
		s.start(t, i)
	case "pause":
		s.pause(i)
		during()
		s.resume(i)
	case "cut":
		s.cut(i, faultproxy.Cut())
		during()
		s.heal(i, dice.IntN(2) == 0)
	case "cut one way":
		s.cut(i, faultproxy.Fault{Up: faultproxy.Way{Cut: true}})
		during()
		s.heal(i, dice.IntN(2) == 0)
	case "lose the majority":
		s.loseMajority(t, dice)
	}
}
