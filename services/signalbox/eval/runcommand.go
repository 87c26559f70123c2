package eval

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Play is `signalbox eval run`.
type Play struct {
	Tests
	Cases       string        `name:"cases" required:"" placeholder:"FILE" help:"Cases that eval mine has made."`
	Brain       []string      `name:"brain" required:"" sep:"none" placeholder:"[NAME=]SPEC" help:"A brain to measure: exec:COMMAND or exec:PRESET for every role that needs one; NAME=@FILE with flags of resolve in YAML; oracle, which makes the real change; null, which makes none. May be repeated."`
	Set         []string      `name:"set" sep:"none" placeholder:"[NAME:]policy.P=VALUE" help:"A value of the lifecycle's policy, for all brains or for one. May be repeated."`
	Repeats     int           `name:"repeats" default:"1" help:"How often each brain is run at each case."`
	Out         string        `name:"out" required:"" type:"path" placeholder:"DIR" help:"Directory for the results and the log of each run."`
	Continue    bool          `name:"resume" help:"Go on with the results that DIR has."`
	HTML        string        `name:"html" type:"path" placeholder:"FILE" help:"Write the table as a page, too."`
	Program     string        `name:"program" type:"existingfile" placeholder:"FILE" help:"The signalbox whose resolve works at the cases; by default the one next to this program, or in PATH."`
	Wall        time.Duration `name:"wall" default:"2h" help:"How long one run may take."`
	Env         []string      `name:"brain-env" placeholder:"NAME" help:"Environment variable that brains may see, in addition to the usual ones. May be repeated."`
	Workflow    string        `name:"workflow" default:"issue" help:"Lifecycle that the cases go through."`
	WorkflowDir string        `name:"workflow-dir" type:"existingdir" placeholder:"DIR" help:"Directory of lifecycles of your own."`
}

// Help returns the details.
func (Play) Help() string {
	return `Each brain works at each case through the real lifecycle, on a repository that ends before the change. Its result is
judged by the case's own tests, which it never sees. Shares have a 95 % Wilson interval; brains are compared with the first
one over the cases that both were run at, with a 95 % bootstrap interval and a sign test. The log of a run is in
DIR/runs/CASE/BRAIN-N/log: signalbox history ID --data shows it.`
}

// results is the file of the results, a Run a line.
const results = "results.jsonl"

// Run measures the brains.
func (c Play) Run(ctx context.Context, env *term.Env) error {
	cases, repo, err := readCases(c.Cases)
	if err != nil {
		return service.Usagef("--cases: %w", err)
	}
	brains, err := c.brains()
	if err != nil {
		return service.Usagef("%w", err)
	}
	if c.Repeats < 1 {
		return service.Usagef("--repeats %d: want 1 or more", c.Repeats)
	}
	if err := newDir(c.Out, c.Continue); err != nil {
		return service.Usagef("--out: %w; --resume goes on with what it has", err)
	}
	p, err := c.player(ctx, repo)
	if err != nil {
		return err
	}
	defer os.RemoveAll(p.dir)
	known, err := readRuns(filepath.Join(c.Out, results))
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(c.Out, results), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	all, err := c.play(ctx, env, p, c.todo(cases, brains), known, file)
	if err != nil {
		return err
	}
	return c.print(env, newTable(cases, brains, all))
}

// brains returns the brains with their policies and the roles that they work as.
func (c Play) brains() ([]contender, error) {
	defs, err := allinone.Definitions(c.WorkflowDir)
	if err != nil {
		return nil, err
	}
	def, err := workflow.NewCatalog(defs...).Named(c.Workflow)
	if err != nil {
		return nil, err
	}
	var all []contender
	seen := map[string]bool{}
	for _, value := range c.Brain {
		b, err := parseContender(value)
		if err != nil {
			return nil, fmt.Errorf("--brain %w", err)
		}
		if seen[b.name] {
			return nil, fmt.Errorf("--brain: two brains are named %s; name them with NAME=SPEC", b.name)
		}
		seen[b.name] = true
		b.roles = needing(def)
		all = append(all, b)
	}
	return all, setPolicies(all, c.Set)
}

// needing lists the roles that no rule can stand in for: those that write the code.
func needing(def *workflow.Definition) []string { return def.Writers() }

// resolver returns the path of the signalbox whose command resolve works at the cases.
func (c Play) resolver() (string, error) {
	if c.Program != "" {
		return filepath.Abs(c.Program)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), "signalbox")); err == nil {
		return path, nil
	}
	path, err := exec.LookPath("signalbox")
	if err != nil {
		return "", errors.New("signalbox is neither next to this program nor in PATH: name it with --program, or go install github.com/signalbox/signalbox/services/signalbox@latest")
	}
	return path, nil
}

func (c Play) player(ctx context.Context, repo string) (player, error) {
	out, err := filepath.Abs(c.Out)
	if err != nil {
		return player{}, err
	}
	program, err := c.resolver()
	if err != nil {
		return player{}, err
	}
	p := player{program: program, out: out, workflow: c.Workflow, dirs: c.WorkflowDir, flags: c.Tests.resolve(), wall: c.Wall}
	for _, name := range c.Env {
		p.flags = append(p.flags, "--brain-env", name)
	}
	p.judge, err = c.judge(ctx, repo, c.Out)
	return p, err
}

// turn is one run to be made.
type turn struct {
	contender
	Case
	repeat int
}

func (t turn) key() string { return fmt.Sprintf("%s/%s-%d", t.Case.ID, t.name, t.repeat) }

// todo lists all runs: each brain at a case, then the next case, so that an interrupted
// evaluation compares the brains at the same cases.
func (c Play) todo(cases []Case, brains []contender) []turn {
	var all []turn
	for n := range c.Repeats {
		for _, one := range cases {
			for _, b := range brains {
				all = append(all, turn{b, one, n + 1})
			}
		}
	}
	return all
}

// play makes the runs that are not known, and appends each to the file. It returns those
// of todo.
func (c Play) play(ctx context.Context, env *term.Env, p player, todo []turn, known map[string]Run, file *os.File) ([]Run, error) {
	var mu sync.Mutex
	var all []Run
	var failed error
	next := 0
	take := func() (turn, bool) {
		mu.Lock()
		defer mu.Unlock()
		for ; next < len(todo); next++ {
			if r, done := known[todo[next].key()]; done {
				all = append(all, r)
				continue
			}
			if failed != nil {
				return turn{}, false
			}
			next++
			return todo[next-1], true
		}
		return turn{}, false
	}
	var workers sync.WaitGroup
	for range c.Parallel {
		workers.Go(func() {
			for t, more := take(); more; t, more = take() {
				r, err := p.play(ctx, t.contender, t.Case, t.repeat)
				mu.Lock()
				if err == nil {
					all = append(all, r)
					err = appendRun(file, r)
					fmt.Fprintf(env.Stderr, "%3d/%d  %s  %-12s %s\n", len(all), len(todo), t.Case.ID, t.name, r.how())
				}
				failed = errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return all, failed
}

// how returns how the run ended.
func (r Run) how() string {
	took := (time.Duration(r.Millis) * time.Millisecond).Round(100 * time.Millisecond)
	switch {
	case r.Error != "":
		return "error: " + term.Line(r.Error)
	case r.Solved:
		return fmt.Sprintf("solved in %s", took)
	case r.Claimed:
		return fmt.Sprintf("wrong, in %s", took)
	}
	return fmt.Sprintf("not solved, in %s: %s", took, term.Line(r.State))
}

func appendRun(file *os.File, r Run) error {
	line, err := json.Marshal(r)
	if err == nil {
		_, err = file.Write(append(line, '\n'))
	}
	return err
}

// readRuns returns the runs of a file by their keys. A last line that was cut off is of
// a run that counts as not made.
func readRuns(path string) (map[string]Run, error) {
	runs := map[string]Run{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return runs, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r Run
		if json.Unmarshal(lines.Bytes(), &r) == nil && r.Case != "" {
			runs[fmt.Sprintf("%s/%s-%d", r.Case, r.Brain, r.Repeat)] = r
		}
	}
	return runs, lines.Err()
}
