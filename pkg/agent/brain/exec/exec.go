// Package exec is a brain that runs any program: a shell script of ten lines, or
// a coding agent with a command line.
//
// The program runs in the work tree. These variables name its files:
//
//	SIGNALBOX_PROMPT      the prompt, which is also the standard input
//	SIGNALBOX_ASSIGNMENT  the assignment as JSON
//	SIGNALBOX_RESULT      where it may write its result as JSON
//	SIGNALBOX_SCHEMA      the result's schema, brain.ResultSchema
//	SIGNALBOX_DOCUMENT    the lifecycle's document, if it has one
//	SIGNALBOX_REPORT      the whole report, if the issue has only parts of it
//	SIGNALBOX_MCP         the MCP servers that it is given as JSON, if there are some
//
// The document lies in the work tree and is not part of the change. A change of
// the document counts as a result. SIGNALBOX_INSTANCE, _STATE, _ROLE and _ATTEMPT
// repeat fields of the assignment. The rest of the environment is an allow list.
//
// Exit code 0 without a result means success, judged by the diff. Exit code 75
// means that the work was not tried, for a reason outside the work. Any other
// exit code is a failure.
package exec

import (
	"cmp"
	"context"
	"encoding/json"
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
	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
	"github.com/signalbox/signalbox/pkg/agent/brain/prompt"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
)

// Config configures a Brain. A time limit of zero means the default, a negative
// one no limit.
type Config struct {
	Program   Program
	Env       []string        // names of more variables to pass on, with the wildcards of path.Match
	Wall      time.Duration   // 0: 30 min
	Idle      time.Duration   // without any output; 0: 10 min
	Grace     time.Duration   // between the signals that end it; 0: 5 s
	MaxOutput int             // bytes of output kept; 0: 1 MiB
	Sandbox   sandbox.Sandbox // the zero Sandbox confines nothing
	Egress    []string        // in a sandbox: hosts that can be reached, in addition to those of a preset
	Readable  []string        // in a sandbox: more paths
	Writable  []string        // in a sandbox: more paths
	Limits    sandbox.Limits  // of resources
	// Cache returns the directory of the tools' caches for an assignment; nil: they
	// are thrown away.
	Cache func(brain.Assignment) string

	// Servers are MCP servers whose tools the program is given, if it can be. They are Ready.
	Servers mcp.Servers
	// Issued gets the token of each run by which the program reaches the servers, before the
	// program starts: no record may have it. Nil: nobody is. It may be called concurrently.
	Issued func(token string)

	Prompts   prompt.Set
	Documents Documents // nil: no lifecycle has a document
	StateFile string    // the document's name, a path below the working directory; empty: DefaultStateFile

	// Line is called for every line printed, in order; it must return soon. May be nil.
	Line func(a brain.Assignment, line string)
}

// Brain runs a program. It implements brain.Brain.
type Brain struct {
	cfg   Config
	hosts []string // that it can reach
}

// New returns a Brain, or an error if the program is not installed.
func New(cfg Config) (*Brain, error) {
	if len(cfg.Program.Argv) == 0 {
		return nil, errors.New("exec: no program given")
	}
	if _, err := osexec.LookPath(cfg.Program.Argv[0]); err != nil {
		return nil, fmt.Errorf("exec: %w: install it, or name another program", err)
	}
	cfg.StateFile = filepath.Clean(cmp.Or(cfg.StateFile, DefaultStateFile))
	if first, _, _ := strings.Cut(filepath.ToSlash(cfg.StateFile), "/"); !filepath.IsLocal(cfg.StateFile) || first == "." ||
		strings.EqualFold(first, ".git") {
		return nil, fmt.Errorf("exec: state file %s: want a path below the working directory", cfg.StateFile)
	}
	cfg.Wall = cmp.Or(cfg.Wall, 30*time.Minute)
	cfg.Idle = cmp.Or(cfg.Idle, 10*time.Minute)
	hosts := slices.Concat(cfg.Program.reachable(), cfg.Egress)
	if _, err := egress.Parse(hosts); err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	return &Brain{cfg, hosts}, nil
}

// Work runs the program once.
func (b *Brain) Work(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
	s, err := b.prepare(a)
	if err != nil {
		return brain.Outcome{}, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	defer s.close()
	if s.offer, err = b.offer(ctx, s); err != nil {
		if ctx.Err() == nil && !errors.Is(err, brain.ErrInfrastructure) {
			err = fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
		}
		return brain.Outcome{}, err
	}
	run, err := b.run(ctx, s)
	said, fault := s.offer.end()
	if err != nil && ctx.Err() == nil {
		return brain.Outcome{}, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	out := brain.Outcome{Output: withServers(withRefused(run), said)}
	s.asked(&out)
	out.Result.Spend = s.printed.spend
	out.Result.Spend.WallMS = max(1, run.Duration.Milliseconds()) // 0 is an unknown time
	if err != nil {
		return out, err
	}
	if fault != nil {
		return out, fault
	}
	out, err = judge(b.cfg.Program, run, s.files, s.printed, out)
	if err != nil {
		err = cmp.Or(b.oldProgram(ctx, run, s.printed), err)
	}
	s.asked(&out)
	if err == nil && s.document != nil && run.OK() {
		return s.document.join(s.assignment, out)
	}
	return out, err
}

// session is one run of the program, with the files it gets.
type session struct {
	files      files
	assignment brain.Assignment // Dir is never empty
	document   *document        // nil: none
	printed    *answer          // of a coding agent
	prompt     prompt.Prompt
	offer      *offer // of MCP servers; nil: there are none
}

// asked fills in what the program was asked.
func (s *session) asked(out *brain.Outcome) {
	out.Asked, out.Template, out.Unusable = []byte(s.prompt.Text), s.prompt.String(), s.prompt.Refused
}

// prepare writes the program's files and its document. The caller must close the
// session.
func (b *Brain) prepare(a brain.Assignment) (*session, error) {
	f, err := newFiles()
	if err != nil {
		return nil, err
	}
	s := &session{files: f, assignment: a, printed: &answer{}}
	if err := b.fill(s); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// fill writes the document and the files of a session.
func (b *Brain) fill(s *session) error {
	a := s.assignment
	if a.Dir == "" { // the program is given no directory with code, but runs in one
		s.assignment.Dir = s.files.empty
	}
	doc, err := b.place(s.assignment)
	if err != nil {
		return fmt.Errorf("place the document: %w", err)
	}
	if doc != nil {
		s.document = doc
		s.files.document = filepath.Join(s.assignment.Dir, doc.name)
		a.StateFile = doc.name
	}
	s.prompt = b.cfg.Prompts.Render(a)
	if err := s.files.write(a, []byte(s.prompt.Text)); err != nil {
		return fmt.Errorf("write the program's files: %w", err)
	}
	return nil
}

// close removes the session's files and restores the work tree.
func (s *session) close() {
	if s.document != nil {
		s.document.remove()
	}
	os.RemoveAll(s.files.dir)
}

// run runs the program and reads the lines that a coding agent prints.
func (b *Brain) run(ctx context.Context, s *session) (sandbox.Result, error) {
	stdin, err := os.Open(s.files.prompt)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer stdin.Close()
	c, err := b.command(s)
	if err != nil {
		return sandbox.Result{}, err
	}
	c.Line = shown(c.Line, brain.Printer(ctx))
	c.Stdin = stdin
	if read := b.cfg.Program.read; read != nil {
		out := &lineWriter{each: func(line []byte) {
			if json.Valid(line) {
				s.printed.spoke = true
			} else {
				s.printed.plain.add(line)
			}
			read(s.printed, line)
		}}
		errs := &lineWriter{each: func(line []byte) {
			s.printed.plain.add(line)
			if aside := b.cfg.Program.aside; aside != nil {
				aside(s.printed, line)
			}
		}}
		defer out.flush()
		defer errs.flush()
		c.Stdout, c.Stderr = out, errs
	}
	removeLitter, err := b.cfg.Program.litter(s.assignment.Dir)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer removeLitter()
	return b.cfg.Sandbox.Run(ctx, c)
}

// command returns the sandboxed command, without its streams.
func (b *Brain) command(s *session) (sandbox.Command, error) {
	p, a := b.cfg.Program, s.assignment
	list, err := egress.Parse(slices.Concat(b.hosts, s.offer.hosts()))
	if err != nil {
		return sandbox.Command{}, err
	}
	c := sandbox.Command{
		Argv: slices.Concat(p.expand(s.files, b.cfg.Sandbox.Mode()), s.offer.args()), Dir: a.Dir,
		Env:  slices.Concat(sandbox.Environ(slices.Concat(p.environ(), b.cfg.Env)...), p.given(), s.files.environ(a), s.offer.environ()),
		Wall: b.cfg.Wall, Idle: b.cfg.Idle, Grace: b.cfg.Grace, MaxOutput: b.cfg.MaxOutput, Limits: b.cfg.Limits,
		Egress: list, Readable: b.cfg.Readable, Login: p.Login,
		Writable: slices.Concat(b.cfg.Writable, []string{s.files.dir}),
	}
	if b.cfg.Cache != nil {
		c.Cache = b.cfg.Cache(a)
	}
	if a.Shared != "" {
		c.Readable = slices.Concat(c.Readable, []string{a.Shared})
	}
	if b.cfg.Line != nil {
		c.Line = func(line string) { b.cfg.Line(a, line) }
	}
	return c, nil
}

// shown returns a callback of lines that has people shown them, too. line may be nil.
func shown(line, print func(string)) func(string) {
	return func(text string) {
		print(text)
		if line != nil {
			line(text)
		}
	}
}

// withServers returns the output of a run, and after it what is to be said of MCP servers.
func withServers(output []byte, said []string) []byte {
	if len(said) == 0 {
		return output
	}
	return fmt.Appendf(slices.Clone(output), "\nMCP servers, and the calls of their tools:\n%s\n", strings.Join(said, "\n"))
}

// withRefused returns the output of a run, and after it what the proxy refused.
func withRefused(run sandbox.Result) []byte {
	if len(run.Refused) == 0 {
		return run.Output
	}
	return fmt.Appendf(slices.Clone(run.Output), "\nThe sandbox let none of these out:\n%s\n", strings.Join(run.Refused, "\n"))
}

// files are the paths of the files that the program and the runtime exchange, in a
// temporary directory.
type files struct {
	dir, prompt, assignment, result, schema string
	empty                                   string // the program's directory if there is no code
	document                                string // in the working directory; empty: none
}

func newFiles() (f files, err error) {
	if f.dir, err = os.MkdirTemp("", "signalbox-*"); err != nil {
		return f, err
	}
	at := func(name string) string { return filepath.Join(f.dir, name) }
	f.prompt, f.assignment, f.result, f.schema, f.empty = at("prompt.md"), at("assignment.json"), at("result.json"), at("schema.json"),
		at("empty")
	if err = os.Mkdir(f.empty, 0o700); err != nil {
		os.RemoveAll(f.dir)
	}
	return f, err
}

func (f files) write(a brain.Assignment, prompt []byte) error {
	text, err := a.Encode()
	if err != nil {
		return err
	}
	if a.Report != "" {
		err = os.WriteFile(f.report(), []byte(a.Report), 0o600)
	}
	return errors.Join(err,
		os.WriteFile(f.prompt, prompt, 0o600),
		os.WriteFile(f.assignment, text, 0o600),
		os.WriteFile(f.schema, brain.ResultSchema(), 0o600))
}

// report is the file of a whole report.
func (f files) report() string { return filepath.Join(f.dir, "report.md") }

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
	if a.Report != "" {
		env = append(env, "SIGNALBOX_REPORT="+f.report())
	}
	if f.document != "" {
		// Jobs of GitHub Actions look for the document in GITHUB_WORKSPACE.
		env = append(env, "SIGNALBOX_DOCUMENT="+f.document, "GITHUB_WORKSPACE="+a.Dir)
	}
	return env
}

// clean removes zero bytes, which no environment variable can hold.
func clean(s string) string { return strings.ReplaceAll(s, "\x00", "") }
