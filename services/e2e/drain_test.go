package e2e

import (
	"bufio"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/logcheck"
)

// A service that is told to stop gives back what it works on at once: nobody
// has to wait for the lease, which is far longer than this test.
func TestAStoppedServiceGivesItsWorkBack(t *testing.T) {
	t.Parallel()
	s := begin(t, plan{AckWait: 10 * time.Minute, Developer: waiting})
	begun, gate := s.gates(t)
	n := s.forge.open(t, "The answer is wrong", complete)
	begun.read(t)
	s.log.until(t, "the claim", in(id(n), "implementing"))
	first := s.log.get(id(n)).Claim

	if code := s.parts["developer"].terminate(t); code != 0 {
		t.Errorf("it ended with %d:\n%s", code, s.parts["developer"].said.tail(20))
	}
	s.log.until(t, "the work given back", func(f *follower) bool { return f.all[id(n)].Claim == nil })
	s.parts["developer"] = s.run(t, "developer")
	begun.read(t)
	gate.write(t)
	s.log.until(t, "the end", closed(id(n)))

	if end := s.log.get(id(n)); end.State != "completed" {
		t.Errorf("it ended in %s: %s", end.State, end.Reason)
	}
	work := s.implementing(t)
	if len(work) != 2 || work[0].Agent != first.Agent || work[1].Agent == first.Agent || !work[0].To.Before(first.Lease) {
		t.Errorf("it was worked on by %v, want two, the first of which gave it back before %s", work, first.Lease)
	}
	for _, c := range s.log.of(id(n)) {
		for _, e := range c.Events {
			if r, ok := e.(instance.Released); ok && (r.Fault || r.Reason != "the agent is stopping") {
				t.Errorf("given back as %+v", r)
			}
		}
	}
}

// Told to stop at the very moment its claim is made, it gives that back too.
func TestAServiceStoppedAtItsClaimGivesItBack(t *testing.T) {
	t.Parallel()
	s := begin(t, plan{AckWait: 10 * time.Minute})
	n := s.forge.open(t, "The answer is wrong", complete)
	s.log.until(t, "the claim", func(f *follower) bool { return in(id(n), "implementing")(f) || closed(id(n))(f) })
	if code := s.parts["developer"].terminate(t); code != 0 {
		t.Errorf("it ended with %d:\n%s", code, s.parts["developer"].said.tail(20))
	}
	s.log.until(t, "the work given back, or done", func(f *follower) bool { return f.all[id(n)].Claim == nil || f.all[id(n)].Owner != "developer" })
	s.parts["developer"] = s.run(t, "developer")
	s.log.until(t, "the end", closed(id(n)))
	if end := s.log.get(id(n)); end.State != "completed" {
		t.Errorf("it ended in %s: %s", end.State, end.Reason)
	}
	s.log.sound(t)
}

// implementing returns the claims of the developers, after a check of the log.
func (s *system) implementing(t *testing.T) []logcheck.Interval {
	t.Helper()
	var work []logcheck.Interval
	for _, c := range s.log.sound(t).Claims {
		if c.State == "implementing" {
			work = append(work, c)
		}
	}
	return work
}

// fifo is a named pipe to a script.
type fifo struct{ file *os.File }

func pipe(t *testing.T, name string) fifo {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	// Both ways, so that neither side waits for the other to open it.
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
	if err := f.file.SetReadDeadline(time.Now().Add(patience)); err != nil {
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
