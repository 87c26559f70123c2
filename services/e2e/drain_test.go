package e2e

import (
	"bufio"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
)

// TestAStoppedServiceGivesItsWorkBack stops an agent that works. It releases its
// claim after the grace: nothing waits for the lease, which is far longer than this test.
func TestAStoppedServiceGivesItsWorkBack(t *testing.T) {
	t.Parallel()
	s := startEnv(t, envConfig{AckWait: 10 * time.Minute, Developer: gatedScript, Args: map[string][]string{"developer": {"--grace", "100ms"}}})
	begun, gate := s.gates(t)
	n := s.forge.openIssue(t, "The answer is wrong", completeReport)
	begun.read(t)
	s.log.await(t, "the claim", claimedIn(instanceID(n), "implementing"))
	first := s.log.get(instanceID(n)).Claim

	if code := s.processes["developer"].terminate(t); code != 0 {
		t.Errorf("it ended with %d:\n%s", code, s.processes["developer"].output.tail(20))
	}
	s.log.await(t, "the work given back", func(f *logFollower) bool { return f.instances[instanceID(n)].Claim == nil })
	s.processes["developer"] = s.startProcess(t, "developer")
	begun.read(t)
	gate.write(t)
	s.log.await(t, "the end", hasEnded(instanceID(n)))

	if end := s.log.get(instanceID(n)); end.State != "completed" {
		t.Errorf("it ended in %s: %s", end.State, end.Reason)
	}
	work := s.implementingClaims(t)
	if len(work) != 2 || work[0].Agent != first.Agent || work[1].Agent == first.Agent || !work[0].To.Before(first.Lease) {
		t.Errorf("it was worked on by %v, want two, the first of which gave it back before %s", work, first.Lease)
	}
	for _, c := range s.log.commitsOf(instanceID(n)) {
		for _, e := range c.Events {
			if r, ok := e.(instance.Released); ok && (r.Fault || r.Reason != "the agent is stopping") {
				t.Errorf("given back as %+v", r)
			}
		}
	}
}

// TestWorkUnderWayEndsWithinTheGrace stops an agent that works. The brain ends its work
// afterwards, and the agent reports it.
func TestWorkUnderWayEndsWithinTheGrace(t *testing.T) {
	t.Parallel()
	s := startEnv(t, envConfig{AckWait: 10 * time.Minute, Developer: gatedScript, Args: map[string][]string{"developer": {"--grace", "10m"}}})
	begun, gate := s.gates(t)
	n := s.forge.openIssue(t, "The answer is wrong", completeReport)
	begun.read(t)
	developer := s.processes["developer"]
	developer.signal(syscall.SIGTERM)
	developer.expect(t, "draining")
	gate.write(t)
	if code := developer.terminated(t); code != 0 {
		t.Errorf("it ended with %d:\n%s", code, developer.output.tail(20))
	}
	s.processes["developer"] = s.startProcess(t, "developer")
	s.log.await(t, "the end", hasEnded(instanceID(n)))
	if end, work := s.log.get(instanceID(n)), s.implementingClaims(t); end.State != "completed" || len(work) != 1 {
		t.Errorf("it ended in %s: %s, worked on by %v", end.State, end.Reason, work)
	}
}

// TestAServiceStoppedAtItsClaimGivesItBack stops an agent while it claims. It
// releases that claim too.
func TestAServiceStoppedAtItsClaimGivesItBack(t *testing.T) {
	t.Parallel()
	s := startEnv(t, envConfig{AckWait: 10 * time.Minute})
	n := s.forge.openIssue(t, "The answer is wrong", completeReport)
	s.log.await(t, "the claim", func(f *logFollower) bool {
		return claimedIn(instanceID(n), "implementing")(f) || hasEnded(instanceID(n))(f)
	})
	if code := s.processes["developer"].terminate(t); code != 0 {
		t.Errorf("it ended with %d:\n%s", code, s.processes["developer"].output.tail(20))
	}
	s.log.await(t, "the work given back, or done", func(f *logFollower) bool {
		return f.instances[instanceID(n)].Claim == nil || f.instances[instanceID(n)].Owner != "developer"
	})
	s.processes["developer"] = s.startProcess(t, "developer")
	s.log.await(t, "the end", hasEnded(instanceID(n)))
	if end := s.log.get(instanceID(n)); end.State != "completed" {
		t.Errorf("it ended in %s: %s", end.State, end.Reason)
	}
	s.log.checkLog(t)
}

// implementingClaims checks the log and returns the developers' claims.
func (s *env) implementingClaims(t *testing.T) []logcheck.Interval {
	t.Helper()
	var work []logcheck.Interval
	for _, c := range s.log.checkLog(t).Claims {
		if c.State == "implementing" {
			work = append(work, c)
		}
	}
	return work
}

// fifo is a named pipe to or from a script.
type fifo struct{ file *os.File }

func newFIFO(t *testing.T, name string) fifo {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	// Opened for both directions, so that opening does not block.
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return fifo{f}
}

// read waits for a line.
func (f fifo) read(t *testing.T) {
	t.Helper()
	if err := f.file.SetReadDeadline(time.Now().Add(maxWait)); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(f.file).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}

func (f fifo) write(t *testing.T) {
	t.Helper()
	if _, err := f.file.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
}
