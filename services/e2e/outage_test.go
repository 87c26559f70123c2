package e2e

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// gatedScript is a developer's brain that reports its start and waits to be
// released.
const gatedScript = `echo begun > "${0%/*}/begun"; read go < "${0%/*}/gate"` + "\n" + fixScript

// gates returns the two pipes of gatedScript.
func (s *env) gates(t *testing.T) (begun, gate fifo) {
	t.Helper()
	return newFIFO(t, filepath.Join(s.dir, "begun")), newFIFO(t, filepath.Join(s.dir, "gate"))
}

// TestWorkOutlivesTheServer kills the nats-server while a developer works and
// starts it after the work has ended. The result is reported then, and no effect is
// doubled.
func TestWorkOutlivesTheServer(t *testing.T) {
	t.Parallel()
	s := startEnv(t, envConfig{Developer: gatedScript})
	begun, gate := s.gates(t)
	n := s.forge.openIssue(t, "The answer is wrong", completeReport)
	begun.read(t)
	s.processes[natsName].kill()
	for _, name := range s.processNames() {
		s.processes[name].expect(t, "NATS connection lost")
	}
	t.Run("and meanwhile nobody is ready, and all say why", func(t *testing.T) {
		for _, name := range s.processNames() {
			if status, body := get(t, s.http(t, name)+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, `"nats"`) {
				t.Errorf("%s answers %d: %s", name, status, body)
			}
			if status, _ := get(t, s.http(t, name)+"/healthz"); status != http.StatusOK {
				t.Errorf("%s says it does not live: %d", name, status)
			}
		}
	})
	late := s.forge.openIssue(t, "Another answer is wrong", completeReport)
	gate.write(t)
	<-time.After(4 * time.Second) // the outage; no event marks its length
	s.processes[natsName] = s.nats.start(t)
	begun.read(t)
	gate.write(t)
	for _, number := range []int{n, late} {
		s.log.await(t, "the end", hasEnded(instanceID(number)))
		if end := s.log.get(instanceID(number)); end.State != "completed" {
			t.Errorf("%s ended in %s: %s", instanceID(number), end.State, end.Reason)
		}
		if prs := s.forge.pulls(t, number); len(prs) != 1 {
			t.Errorf("%s has the pull requests %v, want one", instanceID(number), prs)
		}
	}
	if work := s.implementingClaims(t); len(work) != 2 {
		t.Errorf("the two issues were worked on %d times: %v", len(work), work)
	}
}

// TestAnAgentThatDiedIsReplaced kills an agent. The next one claims the work when
// the lease has lapsed, and removes the work tree.
func TestAnAgentThatDiedIsReplaced(t *testing.T) {
	t.Parallel()
	s := startEnv(t, envConfig{AckWait: 6 * time.Second, Developer: gatedScript})
	begun, gate := s.gates(t)
	n := s.forge.openIssue(t, "The answer is wrong", completeReport)
	begun.read(t)
	s.log.await(t, "the claim", claimedIn(instanceID(n), "implementing"))
	s.processes["developer"].kill()
	trees := func() int {
		all, err := filepath.Glob(filepath.Join(s.dir, "work", "developer", "*", "trees", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if left := trees(); left != 1 {
		t.Errorf("%d work trees are left, want one", left)
	}
	s.processes["developer"] = s.startProcess(t, "developer")
	s.processes["developer"].expect(t, "work trees of killed processes removed")
	if left := trees(); left != 0 {
		t.Errorf("%d work trees are still left", left)
	}
	begun.read(t)
	gate.write(t)
	gate.write(t) // the killed agent's brain may read one line, where no sandbox ended it
	s.log.await(t, "the end", hasEnded(instanceID(n)))
	if end := s.log.get(instanceID(n)); end.State != "completed" {
		t.Errorf("it ended in %s: %s", end.State, end.Reason)
	}
	if work := s.implementingClaims(t); len(work) != 2 || work[1].From.Before(work[0].To) {
		t.Errorf("it was worked on by %v, want two, one after the other", work)
	}
}

// http returns the URL of a process's health endpoint.
func (s *env) http(t *testing.T, name string) string {
	t.Helper()
	var line struct{ URL string }
	if err := json.Unmarshal([]byte(s.processes[name].expect(t, "metrics and health")), &line); err != nil {
		t.Fatal(err)
	}
	return line.URL
}
