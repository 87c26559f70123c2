// Package git runs the git program, without a shell, and without the machine's
// configuration, hooks, prompts and credential helpers. When the context ends, git
// and its helpers are killed.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// MaxOutput limits the bytes of standard output that Run accepts.
const MaxOutput = 16 << 20

// grace is how long git may take to remove its lock files after the signal to stop.
const grace = 2 * time.Second

// Runner runs git in one directory. It is a value: the With methods return a
// changed copy, and any number of goroutines may use it.
type Runner struct {
	dir    string
	env    []string
	config []setting
	start  Starter // nil: git is a child of this process
}

// Process is a run of git that a Starter carries out.
type Process struct {
	Dir            string
	Args           []string  // after the program's name
	Env            []string  // of git alone, name=value: see Variables
	Stdin          io.Reader // nil: empty
	Stdout, Stderr io.Writer // Stdout may be nil
}

// Starter runs git other than as a child of this process, such as in a sandbox, and returns its
// exit code. An error means that git did not exit by itself. The Starter stops git when Stdout
// returns an error.
type Starter func(ctx context.Context, p Process) (int, error)

// Within returns a runner whose git is run by start.
func (r Runner) Within(start Starter) Runner {
	r.start = start
	return r
}

// New returns a runner in the directory; "" means the process's own.
func New(dir string) Runner { return Runner{dir: dir} }

// In returns the runner in another directory.
func (r Runner) In(dir string) Runner {
	r.dir = dir
	return r
}

// Dir returns the directory that git runs in.
func (r Runner) Dir() string { return r.dir }

// Run runs git and returns its standard output without the final newline.
// Output above MaxOutput fails with ErrTooLarge.
func (r Runner) Run(ctx context.Context, args ...string) (string, error) {
	out, err := r.Output(ctx, MaxOutput, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// Output runs git and returns its standard output unchanged. At more than max bytes
// it stops git and returns the first max bytes with ErrTooLarge.
func (r Runner) Output(ctx context.Context, max int, args ...string) ([]byte, error) {
	out := &capped{max: max}
	err := r.Stream(ctx, nil, out, args...)
	return out.Bytes(), err
}

// Stream runs git with in as its standard input and out as its standard output;
// either may be nil. Its error is an *Error.
func (r Runner) Stream(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	stderr := &tail{max: maxStderr}
	if r.start != nil {
		return r.elsewhere(ctx, Process{Dir: r.dir, Args: args, Env: r.Variables(), Stdin: in, Stdout: out, Stderr: stderr}, stderr)
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = r.dir, r.environ()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		if cmd.Process != nil {
			// Helpers of git may outlive it; they are in its process group.
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		err = ctx.Err()
	}
	if c, ok := out.(*capped); ok && c.full {
		err = ErrTooLarge
	}
	failed := &Error{Args: redactAll(args), ExitCode: -1, Stderr: redact(stderr.String()), cause: err}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		failed.ExitCode, failed.cause = exit.ExitCode(), nil
	}
	return failed
}

// elsewhere runs git by the runner's Starter.
func (r Runner) elsewhere(ctx context.Context, p Process, stderr *tail) error {
	code, err := r.start(ctx, p)
	if c, ok := p.Stdout.(*capped); ok && c.full {
		code, err = -1, ErrTooLarge
	}
	if err == nil && code == 0 {
		return nil
	}
	if err != nil {
		code = -1
	}
	return &Error{Args: redactAll(p.Args), ExitCode: code, Stderr: redact(stderr.String()), cause: err}
}

// capped keeps the first max bytes and refuses the rest.
type capped struct {
	bytes.Buffer
	max  int
	full bool
}

func (c *capped) Write(p []byte) (int, error) {
	if room := c.max - c.Len(); len(p) > room {
		c.full = true
		n, _ := c.Buffer.Write(p[:room])
		return n, ErrTooLarge
	}
	return c.Buffer.Write(p)
}

// ReadFrom hides that of the buffer, which has no limit.
func (c *capped) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{c}, r)
}

// tail keeps the last max bytes. Git writes its error last.
type tail struct {
	buf []byte
	max int
}

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - t.max; over > 0 {
		t.buf = slices.Delete(t.buf, 0, over)
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.buf)) }

func redactAll(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = redact(a)
	}
	return out
}

// redact removes the credentials of URLs.
func redact(s string) string { return credentials.ReplaceAllString(s, "://***@") }

// Version returns the version of the installed git, such as "2.39.5". An error means
// that git is not installed.
func Version(ctx context.Context) (string, error) {
	out, err := New("").Run(ctx, "version")
	if err != nil {
		return "", fmt.Errorf("git must be installed and on PATH: %w", err)
	}
	return strings.TrimPrefix(out, "git version "), nil
}

// Keep stores content as a blob, and has a reference name it, in place of what the reference named before.
func (r Runner) Keep(ctx context.Context, ref string, content []byte) error {
	var id strings.Builder
	if err := r.Stream(ctx, bytes.NewReader(content), &id, "hash-object", "-w", "--stdin"); err != nil {
		return err
	}
	_, err := r.Run(ctx, "update-ref", ref, strings.TrimSpace(id.String()))
	return err
}
