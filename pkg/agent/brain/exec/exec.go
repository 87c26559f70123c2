// Package exec is a brain that is any program: a shell script of ten lines, or
// a coding agent with a command line.
//
// The program runs in the work tree. It gets the prompt on standard input and
// in the file SIGNALBOX_PROMPT names, the assignment as JSON in the file
// SIGNALBOX_ASSIGNMENT names, and may write its result as JSON to the file
// SIGNALBOX_RESULT names; brain.ResultSchema describes it, and is in the file
// SIGNALBOX_SCHEMA names. SIGNALBOX_INSTANCE, _STATE, _ROLE and _ATTEMPT spare
// it reading the assignment; apart from these its environment is an allow
// list. In a lifecycle that has a document it is in the file that
// SIGNALBOX_DOCUMENT names, in the work tree and no part of the change: what
// the program writes there counts as its result. Exit code 0 without a result is success, to be judged by the diff;
// exit code 75 says that the work was not tried, for a reason that is not the
// work's; any other is a failure.
package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// Config is what a Brain needs. Limits of time that are zero have a default;
// negative ones are none.
type Config struct {
	Program   Program
	Env       []string        // names of more variables to pass on, with the wildcards of path.Match
	Wall      time.Duration   // 0: 30 min
	Idle      time.Duration   // without any output; 0: 10 min
	Grace     time.Duration   // between the signals that end it; 0: 5 s
	MaxOutput int             // bytes of output kept; 0: 1 MiB
	Sandbox   sandbox.Sandbox // the zero Sandbox confines nothing
	Network   bool            // in a sandbox: leave it reachable; presets need it and have it
	Readable  []string        // in a sandbox: more paths
	Writable  []string        // in a sandbox: more paths
	Limits    sandbox.Limits  // of resources

	Documents Documents // nil: no lifecycle has a document
	StateFile string    // the document's name, a path below the working directory; empty: DefaultStateFile

	// Line is called for every line printed, in order; it must return soon. May be nil.
	Line func(a brain.Assignment, line string)
}

// Brain runs a program. It implements brain.Brain.
type Brain struct{ cfg Config }

// New refuses a program that is not there.
func New(cfg Config) (*Brain, error) {
	if len(cfg.Program.Argv) == 0 {
		return nil, errors.New("exec: no program given")
	}
	if _, err := osexec.LookPath(cfg.Program.Argv[0]); err != nil {
		return nil, fmt.Errorf("exec: %w: install it, or name another program", err)
	}
	cfg.StateFile = filepath.Clean(cmp.Or(cfg.StateFile, DefaultStateFile))
	if first, _, _ := strings.Cut(filepath.ToSlash(cfg.StateFile), "/"); !filepath.IsLocal(cfg.StateFile) || first == "." || strings.EqualFold(first, ".git") {
		return nil, fmt.Errorf("exec: state file %s: want a path below the working directory", cfg.StateFile)
	}
	cfg.Wall = cmp.Or(cfg.Wall, 30*time.Minute)
	cfg.Idle = cmp.Or(cfg.Idle, 10*time.Minute)
	return &Brain{cfg}, nil
}

// Work runs the program once.
func (b *Brain) Work(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
	f, err := newFiles()
	if err != nil {
		return brain.Outcome{}, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	defer os.RemoveAll(f.dir)
	told := a // a place to run in is not told as one with code
	if a.Dir == "" {
		a.Dir = f.empty
	}
	doc, err := b.place(a)
	if err != nil {
		return brain.Outcome{}, fmt.Errorf("%w: place the document: %w", brain.ErrInfrastructure, err)
	}
	if doc != nil {
		defer doc.remove()
		f.document = filepath.Join(a.Dir, doc.name)
		told.StateFile = doc.name
	}
	if err := f.write(told); err != nil {
		return brain.Outcome{}, fmt.Errorf("%w: write the program's files: %w", brain.ErrInfrastructure, err)
	}
	stdin, err := os.Open(f.prompt)
	if err != nil {
		return brain.Outcome{}, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	defer stdin.Close()

	p, said := b.cfg.Program, &answer{}
	c := sandbox.Command{
		Argv: p.expand(f, b.cfg.Sandbox.Mode()), Dir: a.Dir, Stdin: stdin,
		Env:  slices.Concat(sandbox.Environ(slices.Concat(p.env, b.cfg.Env)...), p.set, f.environ(a)),
		Wall: b.cfg.Wall, Idle: b.cfg.Idle, Grace: b.cfg.Grace, MaxOutput: b.cfg.MaxOutput, Limits: b.cfg.Limits,
		Network:  b.cfg.Network || p.read != nil,
		Readable: b.cfg.Readable,
		Writable: slices.Concat(p.state(), b.cfg.Writable, []string{f.dir}),
	}
	if a.Shared != "" {
		c.Readable = slices.Concat(c.Readable, []string{a.Shared})
	}
	if b.cfg.Line != nil {
		c.Line = func(line string) { b.cfg.Line(a, line) }
	}
	var lines *lineWriter
	if p.read != nil {
		lines = &lineWriter{each: func(line []byte) { p.read(said, line) }}
		c.Stdout = lines
	}
	tidy, err := p.litter(a.Dir)
	if err != nil {
		return brain.Outcome{}, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	run, err := b.cfg.Sandbox.Run(ctx, c)
	tidy()
	if lines != nil {
		lines.flush()
	}
	if err != nil && ctx.Err() == nil {
		return brain.Outcome{}, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	out := brain.Outcome{Output: run.Output}
	out.Result.Spend = said.spend
	out.Result.Spend.WallMS = run.Duration.Milliseconds()
	if err != nil {
		return out, err
	}
	out, err = judge(p, run, f, said, out)
	if err == nil && doc != nil && run.OK() {
		return doc.join(a, out)
	}
	return out, err
}

// files are what a program and the runtime tell each other by, outside the
// work tree.
type files struct {
	dir, prompt, assignment, result, schema string
	empty                                   string // to run in when there is no code
	document                                string // in the working directory; empty: none
}

func newFiles() (f files, err error) {
	if f.dir, err = os.MkdirTemp("", "signalbox-*"); err != nil {
		return f, err
	}
	at := func(name string) string { return filepath.Join(f.dir, name) }
	f.prompt, f.assignment, f.result, f.schema, f.empty = at("prompt.md"), at("assignment.json"), at("result.json"), at("schema.json"), at("empty")
	if err = os.Mkdir(f.empty, 0o700); err != nil {
		os.RemoveAll(f.dir)
	}
	return f, err
}

func (f files) write(a brain.Assignment) error {
	text, err := a.Encode()
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(f.prompt, []byte(brain.Prompt(a)), 0o600),
		os.WriteFile(f.assignment, text, 0o600),
		os.WriteFile(f.schema, brain.ResultSchema(), 0o600))
}

func (f files) environ(a brain.Assignment) []string {
	env := []string{
		"SIGNALBOX_PROMPT=" + f.prompt,
		"SIGNALBOX_ASSIGNMENT=" + f.assignment,
		"SIGNALBOX_RESULT=" + f.result,
		"SIGNALBOX_SCHEMA=" + f.schema,
		"SIGNALBOX_INSTANCE=" + clean(a.Instance),
		"SIGNALBOX_STATE=" + clean(a.State),
		"SIGNALBOX_ROLE=" + clean(a.Role),
		"SIGNALBOX_ATTEMPT=" + strconv.Itoa(a.Attempt),
	}
	if f.document != "" {
		// The latter is where a job of GitHub Actions looks for the document.
		env = append(env, "SIGNALBOX_DOCUMENT="+f.document, "GITHUB_WORKSPACE="+a.Dir)
	}
	return env
}

// clean leaves out what no variable can hold.
func clean(s string) string { return strings.ReplaceAll(s, "\x00", "") }
