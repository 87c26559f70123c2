package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// slowDisk makes what a process writes to its files slow, by holding it up at
// every such call.
type slowDisk struct{ strace string }

// findSlowDisk returns nil, and says why, where processes cannot be traced.
func findSlowDisk(t *testing.T) *slowDisk {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err == nil {
		var out []byte
		if out, err = exec.Command(strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=1", "true").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		t.Logf("no slow disks: strace does not work here: %v", err)
		return nil
	}
	return &slowDisk{strace}
}

// slow has every write to a file and every flush of the process take so much
// longer until the fault is over. It returns how many faults that was.
func (d *slowDisk) slow(p *process, by time.Duration, until func()) int64 {
	const calls = "pwrite64,pwritev,fsync,fdatasync,openat,ftruncate"
	trace := exec.Command(d.strace, "-f", "-qq", "-o", os.DevNull, "-p", strconv.Itoa(p.cmd.Process.Pid),
		"-e", "trace="+calls, "-e", fmt.Sprintf("inject=%s:delay_enter=%d", calls, by.Microseconds()))
	if trace.Start() != nil {
		return 0
	}
	until()
	_ = trace.Process.Signal(os.Interrupt) // it lets go of the process
	// Of one that was killed meanwhile it waits for the last thread, for ever, and
	// that one for it.
	held := time.AfterFunc(2*time.Second, func() { _ = trace.Process.Kill() })
	defer held.Stop()
	_ = trace.Wait()
	if trace.ProcessState.ExitCode() == 1 {
		return 0 // the process had just been killed
	}
	return 1
}
