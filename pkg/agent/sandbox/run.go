package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// drain limits how long output is read after the command has ended. Only a process
// that left the session keeps the pipe open longer.
const drain = time.Second

// Run runs the command and waits for it. At a limit, or when ctx ends, its process
// group gets INT, TERM and KILL, Grace apart. When the command has ended, the rest
// of its group is killed. The error means that the command was not started, or is
// the cause of ctx's end. Any other end is in the Result.
func (s Sandbox) Run(ctx context.Context, c Command) (Result, error) {
	c = c.withDefaults()
	r := Result{ExitCode: -1, Mode: s.Mode()}
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if len(c.Argv) == 0 {
		return r, errors.New("no command to run")
	}
	idle := newTimer(c.Idle)
	defer idle.Stop()
	out := newSink(c, idle)
	p, err := s.start(c, out)
	if err != nil {
		return r, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	began := time.Now()
	wall := newTimer(c.Wall)
	defer wall.Stop()

	var ended error
	select {
	case <-p.exited:
	case <-ctx.Done():
		ended = context.Cause(ctx)
	case <-wall.C:
		r.TimedOut, r.Limit = Wall, c.Wall
	case <-idle.C:
		r.TimedOut, r.Limit = Idle, c.Idle
	}
	p.stop(c.Grace)
	p.drain()

	r.Duration = time.Since(began)
	r.Output, r.Dropped = out.finish()
	state := p.cmd.ProcessState
	r.ExitCode = state.ExitCode()
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		r.Signal = signalName(int(w.Signal()))
	}
	return r, ended
}

// process is a started command.
type process struct {
	cmd     *exec.Cmd
	exited  chan struct{}
	group   int // process group that gets INT and TERM
	pipes   []*os.File
	readers sync.WaitGroup
}

// start starts the command in a session of its own: it has no terminal, and one
// process group to signal.
func (s Sandbox) start(c Command, out *sink) (*process, error) {
	argv := c.limited()
	var info *infoPipe
	if s.bwrap != "" {
		var err error
		if info, err = newInfoPipe(); err != nil {
			return nil, err
		}
		defer info.close()
		argv = append(c.bwrapArgs(s.bwrap), argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = c.Dir, c.Env, &syscall.SysProcAttr{Setsid: true}
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be this process's own
	}
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	if info != nil {
		cmd.ExtraFiles = []*os.File{info.w}
	}
	// Pipes of our own: os/exec would wait for each process that holds its pipes.
	p := &process{cmd: cmd, exited: make(chan struct{})}
	stdout, err := p.pipe(out.stdout)
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	stderr := stdout
	if c.Stdout != nil {
		if stderr, err = p.pipe(out.stderr); err != nil {
			p.closePipes()
			return nil, err
		}
		defer stderr.Close()
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		p.closePipes()
		return nil, err
	}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // the result is in ProcessState
	}()
	p.group = cmd.Process.Pid
	if info != nil {
		p.group = info.childPid(p.group)
	}
	return p, nil
}

// pipe starts a reading goroutine and returns the command's end of the pipe.
func (p *process) pipe(write func([]byte)) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.pipes = append(p.pipes, r)
	p.readers.Go(func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := r.Read(buf)
			write(buf[:n])
			if err != nil {
				return
			}
		}
	})
	return w, nil
}

// stop ends the command and its group, and returns when they have ended.
func (p *process) stop(grace time.Duration) {
	defer func() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		select {
		case <-p.exited:
			return
		default:
		}
		_ = syscall.Kill(-p.group, sig)
		select {
		case <-p.exited:
			return
		case <-time.After(grace):
		}
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.exited
}

func (p *process) drain() {
	for _, r := range p.pipes {
		_ = r.SetReadDeadline(time.Now().Add(drain))
	}
	p.readers.Wait()
	p.closePipes()
}

func (p *process) closePipes() {
	for _, r := range p.pipes {
		_ = r.Close()
	}
	p.readers.Wait()
}

// newTimer returns a timer that never fires if d is 0.
func newTimer(d time.Duration) *time.Timer {
	if d > 0 {
		return time.NewTimer(d)
	}
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

func signalName(n int) string { return unix.SignalName(syscall.Signal(n)) }
