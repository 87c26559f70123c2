package e2e

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// waiting is a developer that says it has begun, and goes on when it is let.
const waiting = `echo begun > "${0%/*}/begun"; read go < "${0%/*}/gate"` + "\n" + fix

// gates are the two ends of a waiting developer.
func (s *system) gates(t *testing.T) (begun, gate fifo) {
	t.Helper()
	return pipe(t, filepath.Join(s.dir, "begun")), pipe(t, filepath.Join(s.dir, "gate"))
}

// The nats-server goes away while a developer works, stays away while the work
// ends, and comes back: the result is reported then, and nothing is done twice.
func TestWorkOutlivesTheServer(t *testing.T) {
	t.Parallel()
	s := begin(t, plan{Developer: waiting})
	begun, gate := s.gates(t)
	n := s.forge.open(t, "The answer is wrong", complete)
	begun.read(t)
	s.parts[natsName].kill()
	for _, name := range s.names() {
		s.parts[name].expect(t, "NATS connection lost")
	}
	t.Run("and meanwhile nobody is ready, and all say why", func(t *testing.T) {
		for _, name := range s.names() {
			if status, body := get(t, s.http(t, name)+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, `"nats"`) {
				t.Errorf("%s answers %d: %s", name, status, body)
			}
			if status, _ := get(t, s.http(t, name)+"/healthz"); status != http.StatusOK {
				t.Errorf("%s says it does not live: %d", name, status)
			}
		}
	})
	late := s.forge.open(t, "Another answer is wrong", complete)
	gate.write(t)
	<-time.After(4 * time.Second) // what an outage is: it has no other event
	s.parts[natsName] = s.nats.start(t)
	begun.read(t)
	gate.write(t)
	for _, number := range []int{n, late} {
		s.log.until(t, "the end", closed(id(number)))
		if end := s.log.get(id(number)); end.State != "completed" {
			t.Errorf("%s ended in %s: %s", id(number), end.State, end.Reason)
		}
		if prs := s.forge.pulls(t, number); len(prs) != 1 {
			t.Errorf("%s has the pull requests %v, want one", id(number), prs)
		}
	}
	if work := s.implementing(t); len(work) != 2 {
		t.Errorf("the two issues were worked on %d times: %v", len(work), work)
	}
}

// What a killed agent leaves is taken up by the next when its lease has ended,
// and its work tree goes.
func TestAnAgentThatDiedIsReplaced(t *testing.T) {
	t.Parallel()
	s := begin(t, plan{AckWait: 6 * time.Second, Developer: waiting})
	begun, gate := s.gates(t)
	n := s.forge.open(t, "The answer is wrong", complete)
	begun.read(t)
	s.log.until(t, "the claim", in(id(n), "implementing"))
	s.parts["developer"].kill()
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
	s.parts["developer"] = s.run(t, "developer")
	s.parts["developer"].expect(t, "work trees of killed processes removed")
	if left := trees(); left != 0 {
		t.Errorf("%d work trees are still left", left)
	}
	begun.read(t)
	gate.write(t)
	gate.write(t) // the dead one's program may read it, where no sandbox took it along
	s.log.until(t, "the end", closed(id(n)))
	if end := s.log.get(id(n)); end.State != "completed" {
		t.Errorf("it ended in %s: %s", end.State, end.Reason)
	}
	if work := s.implementing(t); len(work) != 2 || work[1].From.Before(work[0].To) {
		t.Errorf("it was worked on by %v, want two, one after the other", work)
	}
}

// http is where a part answers about itself.
func (s *system) http(t *testing.T, name string) string {
	t.Helper()
	var line struct{ URL string }
	if err := json.Unmarshal([]byte(s.parts[name].expect(t, "metrics and health")), &line); err != nil {
		t.Fatal(err)
	}
	return line.URL
}
