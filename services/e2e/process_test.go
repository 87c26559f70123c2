package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// maxWait is how long anything may take on a busy machine.
const maxWait = 2 * time.Minute

// process is one started program with its output.
type process struct {
	name   string
	cmd    *exec.Cmd
	output *outputLog
	done   chan struct{} // closed when the process has ended
}

// processGroup is all processes of a test. They are stopped when it ends.
type processGroup struct {
	dir string // part of the command line of every child process
	mu  sync.Mutex
	all []*process
}

func newProcessGroup(t *testing.T, dir string) *processGroup {
	t.Helper()
	c := &processGroup{dir: dir}
	t.Cleanup(func() { c.stopAll(t) })
	return c
}

// start starts a program in a process group of its own.
func (c *processGroup) start(t *testing.T, name, program string, args ...string) *process {
	t.Helper()
	p := &process{name: name, cmd: exec.Command(program, args...), output: newOutputLog(), done: make(chan struct{})}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.WaitDelay = time.Second // children of a killed service may hold its output open
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	c.mu.Lock()
	c.all = append(c.all, p)
	c.mu.Unlock()
	ended := watch(t, p.cmd.Process.Pid)
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // ProcessState has the outcome
		ended()
		p.output.end()
	}()
	return p
}

// stopAll stops the services first, and the nats-server they need for that last.
func (c *processGroup) stopAll(t *testing.T) {
	for _, server := range []bool{false, true} {
		deadline := time.After(maxWait)
		var signalled []*process
		for _, p := range c.all {
			if !p.ended() && (p.name == natsName) == server {
				p.signal(syscall.SIGTERM) // not SIGKILL: children of a service are in sessions of their own
				signalled = append(signalled, p)
			}
		}
		for _, p := range signalled {
			select {
			case <-p.done:
			case <-deadline:
				t.Errorf("%s did not end within %s of SIGTERM", p.name, maxWait)
			}
		}
	}
	for _, p := range c.all {
		p.signal(syscall.SIGKILL) // the rest of its group
		<-p.done
		if t.Failed() {
			t.Logf("the last output of %s:\n%s", p.name, p.output.tail(15))
		}
	}
	c.eachOrphan(func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) })
}

// eachOrphan calls f for each child process that a killed service left. It finds
// them only where there is /proc.
func (c *processGroup) eachOrphan(f func(pid int)) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil || c.dir == "" || !strings.Contains(string(line), c.dir) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			f(pid)
		}
	}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// signal sends a signal to the process group, if it still exists.
func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

// kill sends SIGKILL and returns when the process has ended.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// terminate sends SIGTERM and returns the exit code.
func (p *process) terminate(t *testing.T) int {
	t.Helper()
	p.signal(syscall.SIGTERM)
	return p.terminated(t)
}

// terminated waits for the end of a process that was told to, and returns the exit code.
func (p *process) terminated(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(maxWait):
		t.Fatalf("%s did not end after SIGTERM", p.name)
	}
	return p.cmd.ProcessState.ExitCode()
}

// expect waits for an output line that contains text and returns it.
func (p *process) expect(t *testing.T, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	line, err := p.output.waitFor(ctx, text)
	if err != nil {
		t.Fatalf("%s never printed %q: %v", p.name, text, err)
	}
	return line
}

// outputLog is the output of a process, by line.
type outputLog struct {
	mu      sync.Mutex
	lines   []string
	partial string
	ended   bool
	update  chan struct{} // closed by the next change
}

func newOutputLog() *outputLog { return &outputLog{update: make(chan struct{})} }

// Write implements io.Writer.
func (j *outputLog) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := strings.Split(j.partial+string(b), "\n")
	j.partial = all[len(all)-1]
	j.lines = append(j.lines, all[:len(all)-1]...)
	j.notify()
	return len(b), nil
}

func (j *outputLog) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = true
	j.notify()
}

func (j *outputLog) notify() {
	close(j.update)
	j.update = make(chan struct{})
}

func (j *outputLog) waitFor(ctx context.Context, text string) (string, error) {
	for from := 0; ; {
		j.mu.Lock()
		lines, ended, more := j.lines[from:], j.ended, j.update
		j.mu.Unlock()
		for _, line := range lines {
			if strings.Contains(line, text) {
				return line, nil
			}
		}
		from += len(lines)
		if ended {
			return "", fmt.Errorf("it ended: %w", os.ErrProcessDone)
		}
		select {
		case <-more:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// snapshot returns every line so far.
func (j *outputLog) snapshot() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines[:len(j.lines):len(j.lines)]
}

func (j *outputLog) tail(n int) string {
	lines := j.snapshot()
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}
