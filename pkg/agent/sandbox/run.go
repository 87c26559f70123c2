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

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
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
	r := Result{ExitCode: -1, Mode: s.mode}
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if len(c.Argv) == 0 {
		return r, errors.New("no command to run")
	}
	idle := newTimer(c.Idle)
	defer idle.Stop()
	out := newSink(c, idle)
	began := time.Now() // the command may end before start returns
	p, err := s.start(c, out)
	if err != nil {
		return r, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	wall := newTimer(c.Wall)
	defer wall.Stop()
	quiet := make(chan struct{})
	passed, watched := c.Limits.watch(p.group, p.dirs(c), quiet)

	var ended error
	select {
	case <-p.exited:
	case <-ctx.Done():
		ended = context.Cause(ctx)
	case <-wall.C:
		r.TimedOut, r.Limit = Wall, c.Wall
	case <-idle.C:
		r.TimedOut, r.Limit = Idle, c.Idle
	case r.TimedOut = <-passed:
		c.Grace = 0 // it takes more meanwhile
	}
	close(quiet)
	<-watched
	p.stop(c.Grace)
	p.drain()

	r.Duration = time.Since(began)
	r.Output, r.Dropped = out.finish()
	state := p.cmd.ProcessState
	r.ExitCode = state.ExitCode()
	r.Refused, err = p.clear()
	if len(r.Refused) > 0 && s.onRefused != nil {
		s.onRefused(r.Refused)
	}
	if ended == nil && err != nil {
		ended = fmt.Errorf("remove what the run needed: %w", err)
	}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		r.Signal = signalName(int(w.Signal()))
	}
	return r, ended
}

// process is a started command.
type process struct {
	cmd      *exec.Cmd
	exited   chan struct{}
	group    int // process group that gets INT and TERM; its leader's descendants are the command's
	pipes    []*os.File
	readers  sync.WaitGroup
	lifeline *os.File // at its end the helper kills all; nil: there is no helper that does
	own      ownDirs
	copies   []*os.File    // that bubblewrap copies, until it is started
	proxy    *egress.Proxy // nil: no network
}

// start starts the command in a session of its own: it has no terminal, and one
// process group to signal.
func (s Sandbox) start(c Command, out *sink) (_ *process, err error) {
	p := &process{exited: make(chan struct{})}
	defer func() {
		if err != nil {
			_, cerr := p.clear()
			err = errors.Join(err, cerr)
		}
	}()
	var info *infoPipe
	cmd, err := s.prepare(&c, p)
	defer func() {
		for _, file := range p.copies {
			_ = file.Close() // only read
		}
	}()
	if err != nil {
		return nil, err
	}
	p.cmd = cmd
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	switch {
	case s.Mode() == Bwrap:
		if info, err = newInfoPipe(); err != nil {
			return nil, err
		}
		defer info.close()
		cmd.ExtraFiles = append([]*os.File{info.w}, p.copies...)
	case s.helper != "":
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		p.lifeline, cmd.ExtraFiles = w, []*os.File{r}
	}
	// Pipes of our own: os/exec would wait for each process that holds its pipes.
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
	defer p.release()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		select {
		case <-p.exited:
			return
		default:
		}
		if grace == 0 {
			break
		}
		_ = syscall.Kill(-p.group, sig)
		select {
		case <-p.exited:
			return
		case <-time.After(grace):
		}
	}
	if p.lifeline != nil {
		p.release() // the helper kills those as well that left the group
		select {
		case <-p.exited:
			return
		case <-time.After(helperGrace):
		}
		confine.KillBelow(p.cmd.Process.Pid)
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.exited
}

// helperGrace is how long a helper may take to kill all descendants of the command.
const helperGrace = 10 * time.Second

// release ends the lifeline of the helper.
func (p *process) release() {
	if p.lifeline != nil {
		_ = p.lifeline.Close()
	}
}

// clear removes what the run needed, and returns what the proxy refused.
func (p *process) clear() (refused []string, err error) {
	p.release()
	if p.proxy != nil {
		refused = p.proxy.Close()
	}
	return refused, p.own.remove()
}

// dirs returns the directories that count for the limit of disk.
func (p *process) dirs(c Command) []string {
	dirs := append([]string{}, c.Writable...)
	for _, dir := range []string{c.Dir, c.Cache, p.own.root} {
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
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
