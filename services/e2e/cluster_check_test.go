package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// check waits until all work is done, stops all processes, and compares the
// acknowledgements with the log of each node.
func (s *clusterEnv) check(t *testing.T) {
	t.Helper()
	s.load.stopClients()
	s.load.wg.Wait()
	nc, _ := connectTo(t, s.urls(0))
	people := client.New(nc, "operator:test")
	var left []*pb.Summary
	var err error
	silent := 0
	if !eventually(t.Context(), func(ctx context.Context) bool {
		left, err = people.List(ctx, &pb.ListRequest{Workflow: "lap"})
		if errors.Is(err, client.ErrUnavailable) {
			if silent++; silent == 2 { // after a third failure the client changes nodes
				s.diagnose(t)
			}
		}
		return err == nil && len(left) == 0
	}) {
		s.fatalf(t, "%d instances do not end: %v, %v", len(left), left, err)
	}
	ended, err := people.List(t.Context(), &pb.ListRequest{Workflow: "lap", All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range ended {
		if in.GetState() != "done" {
			t.Errorf("%s has ended in %s", in.GetInstance(), in.GetState())
		}
	}
	s.load.stopAgents()
	s.load.agents.Wait()
	for _, err := range s.load.errs {
		t.Error(err)
	}
	for _, p := range s.orchestrators {
		if p.ended() {
			t.Errorf("%s gave up", p.name)
		} else if code := p.terminate(t); code != 0 {
			t.Errorf("%s ended with %d", p.name, code)
		}
	}
	s.awaitReplicated(t, s.js)
	s.checkReplicas(t)

	log, report := commandSequences(t, s.js, lapLifecycle)
	for id, a := range s.load.acks {
		if log[id] != a.seq {
			t.Errorf("%s of %s was acknowledged as commit %d, the log has it as %d", id, a.instance, a.seq, log[id])
		}
	}
	if report.Instances != len(ended) || report.Commits != len(log) {
		t.Errorf("the log has %d instances and %d commits, of %d and %d told", report.Instances, report.Commits, len(ended), len(log))
	}
	s.checkLogsEqual(t, uint64(report.Commits))
	t.Logf("%d instances, %d commits, %d acknowledgements, all there on every node", report.Instances, report.Commits, len(s.load.acks))
}

// checkReplicas fails unless every stream, bucket and durable consumer is on every
// node.
func (s *clusterEnv) checkReplicas(t *testing.T) {
	t.Helper()
	var names []string
	streams := s.js.ListStreams(t.Context())
	for info := range streams.Info() {
		names = append(names, info.Config.Name)
		if info.Config.Replicas != clusterNodes {
			t.Errorf("stream %s has %d replicas", info.Config.Name, info.Config.Replicas)
		}
		stream, err := s.js.Stream(t.Context(), info.Config.Name)
		if err != nil {
			t.Fatal(err)
		}
		consumers := stream.ListConsumers(t.Context())
		for c := range consumers.Info() {
			if c.Config.Durable != "" && (c.Cluster == nil || len(c.Cluster.Replicas) != clusterNodes-1) {
				t.Errorf("consumer %s of %s is kept by %+v", c.Name, info.Config.Name, c.Cluster)
			}
		}
		if err := consumers.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := streams.Err(); err != nil || !slices.Contains(names, subject.EventStream) || len(names) < 5 {
		t.Fatalf("the streams are %v, %v", names, err)
	}
}

// checkLogsEqual makes each node the leader in turn and reads its log. It fails
// unless all are equal.
func (s *clusterEnv) checkLogsEqual(t *testing.T, commits uint64) {
	t.Helper()
	var first [sha256.Size]byte
	for i, n := range s.nodes {
		nc, js := connectTo(t, s.urls(i))
		if !eventually(t.Context(), func(ctx context.Context) bool {
			if leader(ctx, js) == n.name {
				return true
			}
			_, _ = nc.RequestWithContext(ctx, "$JS.API.STREAM.LEADER.STEPDOWN."+subject.EventStream,
				fmt.Appendf(nil, `{"placement":{"preferred":%q}}`, n.name))
			return false
		}) {
			s.fatalf(t, "%s does not become the leader", n.name)
		}
		sum := s.logHash(t, js, commits)
		if at := leader(t.Context(), js); at != n.name {
			t.Fatalf("%s became the leader while %s was read", at, n.name)
		}
		if i == 0 {
			first = sum
		} else if sum != first {
			t.Errorf("%s has another log than %s", n.name, s.nodes[0].name)
		}
	}
}

func leader(ctx context.Context, js jetstream.JetStream) string {
	stream, err := js.Stream(ctx, subject.EventStream)
	if err != nil || stream.CachedInfo().Cluster == nil {
		return ""
	}
	return stream.CachedInfo().Cluster.Leader
}

// logHash returns the hash of the leader's log.
func (s *clusterEnv) logHash(t *testing.T, js jetstream.JetStream, commits uint64) (sum [sha256.Size]byte) {
	t.Helper()
	stream, err := js.Stream(t.Context(), subject.EventStream)
	if err != nil {
		t.Fatal(err)
	}
	if last := stream.CachedInfo().State.LastSeq; last != commits {
		t.Errorf("%s has %d commits, want %d", stream.CachedInfo().Cluster.Leader, last, commits)
	}
	h := sha256.New()
	for seq := uint64(1); seq <= commits; seq++ {
		m, err := stream.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatalf("sequence %d: %v", seq, err)
		}
		line, err := json.Marshal(m) // map keys are sorted
		if err != nil {
			t.Fatal(err)
		}
		h.Write(line)
	}
	copy(sum[:], h.Sum(nil))
	return sum
}
