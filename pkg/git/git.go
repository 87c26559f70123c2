// Package git runs the git program: arguments only, never a shell; no
// configuration, hook, prompt or credential helper of the machine's; and
// nothing left running when the context ends.
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

// MaxOutput is how many bytes Run accepts on standard output.
const MaxOutput = 16 << 20

// grace is how long git may take to remove its lock files once it is told to stop.
const grace = 2 * time.Second

// Runner runs git in one directory. It is a value: the With methods return a
// changed copy, and any number of goroutines may use it.
type Runner struct {
	dir    string
	env    []string
	config []setting
}

// New is a runner in the directory; an empty one is the process's own.
func New(dir string) Runner { return Runner{dir: dir} }

// In is the same runner in another directory.
func (r Runner) In(dir string) Runner {
	r.dir = dir
	return r
}

// Dir is where git runs.
func (r Runner) Dir() string { return r.dir }

// Run runs git and returns its standard output without the final newline.
// Output above MaxOutput fails with ErrTooLarge.
func (r Runner) Run(ctx context.Context, args ...string) (string, error) {
	out, err := r.Output(ctx, MaxOutput, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// Output runs git and returns its standard output as it is. When there is
// more than max bytes git is stopped, and the first max bytes come with an
// error that is ErrTooLarge.
func (r Runner) Output(ctx context.Context, max int, args ...string) ([]byte, error) {
	out := &capped{max: max}
	err := r.Stream(ctx, nil, out, args...)
	return out.Bytes(), err
}

// Stream runs git between a reader and a writer; either may be nil. A failure
// is an *Error.
func (r Runner) Stream(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	stderr := &tail{max: maxStderr}
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
			// Helpers of git's may have outlived it; they share its group.
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		err = ctx.Err()
	}
	if c, ok := out.(*capped); ok && c.full {
		err = ErrTooLarge
	}
	failed := &Error{Args: redactAll(args), ExitCode: -1, Stderr: redact(stderr.String()), cause: err}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		failed.ExitCode, failed.cause = exit.ExitCode(), nil
	}
	return failed
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

// ReadFrom hides the buffer's own, which knows no limit.
func (c *capped) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{c}, r)
}

// tail keeps the last max bytes: git says last what went wrong.
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

// Version is the installed git's, such as "2.39.5"; an error says that git is
// not installed.
func Version(ctx context.Context) (string, error) {
	out, err := New("").Run(ctx, "version")
	if err != nil {
		return "", fmt.Errorf("git must be installed and on PATH: %w", err)
	}
	return strings.TrimPrefix(out, "git version "), nil
}
