package eval

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/services/signalbox/resolve"
)

// player has brains work at cases, each in a process of its own with a log of its own.
type player struct {
	judge
	program  string        // signalbox
	out      string        // directory of the results
	workflow string        // the lifecycle
	dirs     string        // of lifecycles of the caller's own; empty: none
	flags    []string      // of each resolve
	wall     time.Duration // of one run
}

// play has the brain work at the case, and judges what it left. Its error is one of this
// machine; what goes wrong in the run is in the result.
func (p player) play(ctx context.Context, c contender, task Case, repeat int) (Run, error) {
	r := Run{Case: task.ID, Brain: c.name, Repeat: repeat, Tests: max(1, len(task.Failing))}
	dir := filepath.Join(p.out, "runs", task.ID, fmt.Sprintf("%s-%d", c.name, repeat))
	if err := os.RemoveAll(dir); err != nil { // of an attempt that was interrupted
		return r, err
	}
	source := filepath.Join(dir, "code")
	r.Data = filepath.Join(dir, "log")
	if err := p.prepare(ctx, source, task); err != nil {
		return r, fmt.Errorf("prepare the code of %s: %w", task.ID, err)
	}
	report := filepath.Join(dir, "issue.md")
	if err := os.WriteFile(report, []byte(task.report()), 0o600); err != nil {
		return r, err
	}
	flags, err := p.lifecycle(c, dir)
	if err != nil {
		return r, err
	}
	own, err := c.flags(ctx, p.repo, dir, task)
	if err != nil {
		return r, err
	}
	args := slices.Concat([]string{"resolve", "--repo", source, "--issue", report, "--data", r.Data, "--json"}, p.flags, flags, own)
	start := time.Now()
	out, err := p.converse(ctx, args, dir)
	r.Millis = time.Since(start).Milliseconds()
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		r.Error = err.Error()
		return r, nil
	}
	r.Instance, r.State, r.Reason, r.Claimed = out.Instance, out.State, out.Reason, out.Branch != ""
	r.Iterations, r.Questions = out.Iterations, len(out.Questions)
	r.TokensIn, r.TokensOut, r.USD = out.Spend.TokensIn, out.Spend.TokensOut, out.Spend.USD
	if !r.Claimed {
		return r, nil
	}
	ev, err := p.try(ctx, code{source, out.Head}, task)
	if err != nil {
		return r, fmt.Errorf("judge what %s left at %s: %w", c.name, task.ID, err)
	}
	r.Solved = ev.OK
	for _, name := range task.Failing {
		if ev.OK || ev.Passed > 0 && !slices.Contains(ev.Failed, name) {
			r.Passed++
		}
	}
	if len(task.Failing) == 0 && ev.OK {
		r.Passed = 1
	}
	return r, nil
}

// prepare makes dir a repository whose newest commit is the case's base: what came after
// is not there.
func (p player) prepare(ctx context.Context, dir string, task Case) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	g := git.New(dir).WithEnv("GIT_ALLOW_PROTOCOL=file")
	for _, args := range [][]string{
		{"init", "--quiet", "--template=", "--initial-branch=main", "."},
		{"fetch", "--quiet", "--no-tags", p.repo, task.Base},
		{"update-ref", "refs/heads/main", task.Base},
		{"reset", "--quiet", "--hard"},
	} {
		if _, err := g.Run(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// lifecycle returns the flags of the lifecycle, with the policies that the brain is
// measured with.
func (p player) lifecycle(c contender, dir string) ([]string, error) {
	if len(c.set) == 0 {
		flags := []string{"--workflow", p.workflow}
		if p.dirs != "" {
			flags = append(flags, "--workflow-dir", p.dirs)
		}
		return flags, nil
	}
	own := filepath.Join(dir, "lifecycles")
	if err := os.MkdirAll(own, 0o700); err != nil {
		return nil, err
	}
	if p.dirs != "" {
		if err := os.CopyFS(own, os.DirFS(p.dirs)); err != nil {
			return nil, err
		}
	}
	return []string{"--workflow", measured, "--workflow-dir", own}, os.WriteFile(filepath.Join(own, measured+".yaml"), overlay(p.workflow, c.set), 0o600)
}

// measured is the lifecycle with the policies of --set.
const measured = "measured"

// overlay returns the lifecycle with other values of its policy.
func overlay(name string, set map[string]string) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "workflow: %s\nversion: 1\nextends: %s\npolicy:\n", measured, name)
	for _, key := range slices.Sorted(maps.Keys(set)) {
		fmt.Fprintf(&text, "  %s: %s\n", key, set[key])
	}
	return text.Bytes()
}

// maxRounds is how often questions are answered in one run.
const maxRounds = 5

// nobody is the answer to each question: an evaluation has no people.
const nobody = "As the report and the code have it."

// converse resolves the case, and answers what people are asked.
func (p player) converse(ctx context.Context, args []string, dir string) (out resolve.Outcome, err error) {
	for n := range maxRounds {
		if out, err = p.resolve(ctx, args, filepath.Join(dir, fmt.Sprintf("output-%d", n+1))); err != nil || out.Branch != "" {
			return out, err
		}
		var answers strings.Builder
		for _, q := range out.Questions {
			if !q.Answered {
				fmt.Fprintf(&answers, "Q%d: %s\n", q.Number, nobody)
			}
		}
		if answers.Len() == 0 {
			return out, nil
		}
		file := filepath.Join(dir, fmt.Sprintf("answers-%d", n+1))
		if err := os.WriteFile(file, []byte(answers.String()), 0o600); err != nil {
			return out, err
		}
		if n == 0 {
			args = append(args, "--answers", "")
		}
		args[len(args)-1] = file
	}
	return out, nil
}

// resolve runs `signalbox resolve` and returns what it prints. Its messages meanwhile go to
// the file.
func (p player) resolve(ctx context.Context, args []string, told string) (out resolve.Outcome, err error) {
	log, err := os.OpenFile(told, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return out, err
	}
	defer log.Close()
	within, cancel := context.WithTimeout(ctx, p.wall)
	defer cancel()
	cmd := exec.CommandContext(within, p.program, args...)
	var result, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &result, &both{log, &said}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	err = cmd.Run()
	if json.Unmarshal(result.Bytes(), &out) == nil && out.Instance != "" {
		return out, nil // not to be resolved is a result
	}
	if within.Err() != nil {
		return out, fmt.Errorf("stopped after %s", p.wall)
	}
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	return out, fmt.Errorf("%w: %s", cmp.Or(err, errors.New("it printed no result")), lines[len(lines)-1])
}

// both writes to a file, and keeps the newest bytes.
type both struct {
	file *os.File
	last *bytes.Buffer
}

func (b *both) Write(p []byte) (int, error) {
	const kept = 4 << 10
	b.last.Write(p)
	if more := b.last.Len() - kept; more > 0 {
		b.last.Next(more)
	}
	return b.file.Write(p)
}
