package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/git"
)

// Intake bounds what is taken in of a work tree after a program, and what reading it may cost.
// Zero values mean those of DefaultIntake.
type Intake struct {
	Wall    time.Duration // for each run of git on the tree
	Files   int           // that are new or changed
	Bytes   int64         // of the files that are new or changed: their sizes, not what they occupy
	Object  int64         // bytes of one object of git
	Objects int           // of git, in a step
	Memory  int64         // bytes, of git while it reads the tree
}

// DefaultIntake returns the limits that hold where nothing else is configured. They are far above
// those of outbound.DefaultRules, whose findings name each file.
func DefaultIntake() Intake {
	return Intake{Wall: 2 * time.Minute, Files: 50_000, Bytes: 256 << 20, Object: 256 << 20, Objects: 200_000, Memory: 2 << 30}
}

func (i Intake) withDefaults() Intake {
	d := DefaultIntake()
	if i.Wall <= 0 {
		i.Wall = d.Wall
	}
	if i.Files <= 0 {
		i.Files = d.Files
	}
	if i.Bytes <= 0 {
		i.Bytes = d.Bytes
	}
	if i.Object <= 0 {
		i.Object = d.Object
	}
	if i.Objects <= 0 {
		i.Objects = d.Objects
	}
	if i.Memory <= 0 {
		i.Memory = d.Memory
	}
	return i
}

// Refused reports what a program left and the runtime does not take in. It is an ErrUnreadable.
type Refused struct {
	Rule   string // a label for metrics, one of RefusedRules
	Detail string // for people: what, where, and the limit
}

// RefusedRules returns the rules that a Refused names.
func RefusedRules() []string {
	return []string{"git", "files", "size", "time", "memory", "disk", "processes", "pack"}
}

// Error implements error.
func (r *Refused) Error() string { return fmt.Sprintf("%v: %s", ErrUnreadable, r.Detail) }

// Unwrap makes errors.Is(err, ErrUnreadable) hold.
func (r *Refused) Unwrap() error { return ErrUnreadable }

// refused returns a *Refused, and reports it.
func (t *Tree) refused(rule, detail string) error {
	r := &Refused{rule, detail}
	if f := t.cache.cfg.Refused; f != nil {
		f(r)
	}
	return r
}

// own returns the directory of the runtime's git directory of the tree. Only git in the sandbox
// writes to it, and nothing outside follows what is in it.
func (t *Tree) own() string { return filepath.Join(filepath.Dir(t.Dir), "git") }

// confine makes git that reads the work tree run in the sandbox, with the runtime's own git
// directory. New objects stay in that directory.
func (t *Tree) confine() error {
	objects := filepath.Join(t.own(), "objects")
	err := errors.Join(os.MkdirAll(filepath.Join(objects, "info"), 0o700), os.MkdirAll(filepath.Join(t.own(), "refs"), 0o700))
	for name, text := range map[string]string{
		"config": bare, "HEAD": t.Head + "\n", "objects/info/alternates": t.Shared + "\n",
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(t.own(), name), []byte(text), 0o600))
	}
	t.git = t.git.WithEnv("GIT_DIR="+t.own(), "GIT_NO_REPLACE_OBJECTS=1").Within(t.start)
	return err
}

// start runs git on the work tree, in the sandbox. It is a git.Starter.
func (t *Tree) start(ctx context.Context, p git.Process) (int, error) {
	in, err := t.spool(p.Stdin)
	if err != nil {
		return -1, err
	}
	if in != nil {
		defer in.Close()
	}
	r, err := t.inside(ctx, sandbox.Command{
		Argv: append([]string{"git"}, p.Args...), Dir: p.Dir, Env: p.Env, Stdin: in, Stdout: p.Stdout, Stderr: p.Stderr,
	})
	return r.ExitCode, err
}

// inside runs a command that reads the work tree, in the sandbox and within the limits of the
// intake. It ends the command when its Stdout returns an error, which is then the error. A limit
// that is reached is a *Refused.
func (t *Tree) inside(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	max := t.cache.cfg.Intake
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if c.Stdout != nil {
		c.Stdout = &ending{c.Stdout, cancel}
	}
	c.Env = append(sandbox.Environ(), c.Env...)
	c.Readable = append(c.Readable, t.Dir, t.Shared, t.excludes())
	c.Writable = append(c.Writable, t.own())
	c.Wall, c.Grace, c.MaxOutput = max.Wall, time.Second, 16<<10
	c.Limits = sandbox.Limits{CPU: max.Wall, FileSize: 2 * max.Bytes, Memory: max.Memory, Processes: 256, Disk: 4 * max.Bytes}
	r, err := t.cache.cfg.Sandbox.Run(ctx, c)
	if err != nil {
		return r, err
	}
	if r.TimedOut != "" {
		rule := string(r.TimedOut)
		if r.TimedOut == sandbox.Wall {
			rule = "time"
		}
		return r, t.refused(rule, "git in the sandbox took more than it may to read it: "+r.String())
	}
	return r, nil
}

// spool returns a file with what a command reads, nil for nothing.
func (t *Tree) spool(in io.Reader) (*os.File, error) {
	if in == nil {
		return nil, nil
	}
	file, err := os.CreateTemp(filepath.Dir(t.Dir), "in-*")
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(file, in)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err = errors.Join(err, os.Remove(file.Name())); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// ending is a writer whose error ends the command that writes.
type ending struct {
	w   io.Writer
	end context.CancelCauseFunc
}

func (e *ending) Write(b []byte) (int, error) {
	n, err := e.w.Write(b)
	if err != nil {
		e.end(err)
	}
	return n, err
}

// errTooMuch is the error of a limited writer.
var errTooMuch = errors.New("git in the sandbox writes more than it may")

// limited is a writer that takes no more than n bytes.
type limited struct {
	w io.Writer
	n int64
}

func (l *limited) Write(b []byte) (int, error) {
	if l.n -= int64(len(b)); l.n < 0 {
		return 0, errTooMuch
	}
	return l.w.Write(b)
}

// lines returns the first lines of a text, for a message.
func lines(text string) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-5):], "; ")
}
