package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// TestAFullDiskLosesNothing fills the server's disk. Appends fail, nothing
// acknowledged is lost, and work continues once there is space. nats-server 2.15
// does not answer a message that it cannot write, and it writes to that stream
// again only after a restart.
func TestAFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	s := startEnv(t, envConfig{Developer: gatedScript, NATS: smallDisk(t)})
	begun, gate := s.gates(t)
	n := s.forge.openIssue(t, "The answer is wrong", completeReport)
	begun.read(t)
	taken := s.log.commitCount(instanceID(n))
	room := fillDisk(t, s.NATS)

	err := s.flood(t)
	if !errors.Is(err, client.ErrUnavailable) ||
		!strings.Contains(err.Error(), "the server answers and does not store: if its disk is full, make room and restart it") {
		t.Errorf("an append on a full disk: %v", err)
	}
	gate.write(t) // the work ends; its report waits
	if _, err := s.client.Get(t.Context(), instanceID(n)); err != nil {
		t.Errorf("the past cannot be read: %v", err)
	}
	room()
	s.processes[natsName].terminate(t)
	s.processes[natsName] = s.nats.start(t)
	gate.write(t) // its output may not have been stored: the work is done again

	s.log.await(t, "the end", hasEnded(instanceID(n)))
	if end := s.log.get(instanceID(n)); end.State != "completed" {
		t.Errorf("it ended in %s: %s", end.State, end.Reason)
	}
	if now := s.log.commitCount(instanceID(n)); now <= taken {
		t.Errorf("it has %d commits, and had %d", now, taken)
	}
	s.log.checkLog(t)
	if s.processes["orchestrator"].ended() {
		t.Error("the orchestrator gave up")
	}
}

// flood opens instances until one is not acknowledged.
func (s *env) flood(t *testing.T) error {
	t.Helper()
	for start := time.Now(); time.Since(start) < maxWait; {
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		_, err := s.client.Open(ctx, "", "issue", "flood/"+time.Now().Format(time.RFC3339Nano),
			instance.Issue{Title: "Much", Body: strings.Repeat("much ", 10_000)})
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// smallDisk returns a directory on a small file system of its own.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount %s: %v: %s", dir, err, out)
		}
	})
	return dir
}

// fillDisk writes a file until no space is left. room removes it.
func fillDisk(t *testing.T, dir string) (room func()) {
	t.Helper()
	name := filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 16; size > 0; {
		if _, err = f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}
