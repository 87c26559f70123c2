package testrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/work"
)

// Name is the name of the evidence that tests give.
const Name = work.Tests

// maxOutput is how many bytes of output are looked at. The events of go test
// are read as they come, however many there are.
const maxOutput = 4 << 20

// Runner runs one command under limits; a sandbox.Sandbox is one. Its error
// says that the command could not be started or that ctx ended.
type Runner interface {
	Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error)
}

// Run runs the plan in dir, which holds the commit, and returns what was seen.
// Failing tests, a missing program and a timeout are evidence that is not OK,
// not errors; the only error is one that wraps brain.ErrInfrastructure.
//
// Evidence is OK when the command exited 0, reported no failing test and, as
// far as its output can be counted, did test something.
func Run(ctx context.Context, dir, commit string, plan Plan, runner Runner) (instance.Evidence, error) {
	var events goEvents
	res, err := runner.Run(ctx, sandbox.Command{
		Argv: plan.Argv, Dir: dir, Env: append(sandbox.Environ(), plan.Env...),
		Wall: plan.Timeout, MaxOutput: maxOutput, Stdout: &events,
	})
	ev := instance.Evidence{
		Name: cmp.Or(plan.Check, Name), Commit: commit, Command: plan.Command(),
		ExitCode: res.ExitCode, Millis: res.Duration.Milliseconds(),
	}
	if errors.Is(err, exec.ErrNotFound) {
		ev.Output = couldNotRun + plan.Argv[0] + " is not installed here"
		return ev, nil
	}
	if err == nil {
		err = context.Cause(ctx) // what a stopped run shows says nothing about the work
	}
	if err != nil {
		return instance.Evidence{}, fmt.Errorf("%w: run %s on %s: %w", brain.ErrInfrastructure, plan.Command(), commit, err)
	}
	out := clean(string(res.Output), dir)
	ev = judge(ev, res, parse(&events, out, res.OK()), out)
	ev.Output = clean(ev.Output, dir) // the events were not
	return ev, nil
}

// CouldNotRun reports whether the evidence says that the tests did not run for
// want of something that the work cannot give, such as a missing program.
func CouldNotRun(ev instance.Evidence) bool {
	return !ev.OK && strings.HasPrefix(ev.Output, couldNotRun)
}

const couldNotRun = "could not run: "

// noProgram is what bubblewrap and Python say of a program that is not there.
var noProgram = regexp.MustCompile(`(?m)^(?:bwrap: execvp (\S+): No such file or directory|\S*python\S*: No module named (pytest))$`)

func judge(ev instance.Evidence, res sandbox.Result, r report, out string) instance.Evidence {
	ev.Passed, ev.Failed = r.passed, r.names()
	telling := r.text(withoutEvents(out))
	m := noProgram.FindStringSubmatch(out)
	switch {
	case !res.OK() && m != nil:
		ev.Output = couldNotRun + m[1] + m[2] + " is not installed here"
	case res.ExitCode == 126 || res.ExitCode == 127: // what a shell says of a program it cannot run
		ev.Output = couldNotRun + "a program that the tests call is missing; a command that installs it first can be set in " + ConfigFile + "\n" + telling
	case res.TimedOut != "":
		ev.Output = res.String() + "\n" + telling
	case res.OK() && len(ev.Failed) > 0:
		ev.Output = "exit code 0, yet tests are reported as failing\n" + telling
	case r.counted && r.passed == 0 && len(ev.Failed) == 0:
		ev.Output = "nothing was tested: no test ran\n" + telling
	case !res.OK():
		ev.Output = telling
	default:
		ev.OK = true
	}
	return ev
}

// clean is output as kept: no terminal colours, and no path of this machine.
func clean(s, dir string) string {
	s = strings.ReplaceAll(escapes.ReplaceAllString(strings.ToValidUTF8(s, "�"), ""), "\r\n", "\n")
	roots := []string{dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		roots = append(roots, real)
	}
	for _, root := range roots {
		s = strings.ReplaceAll(s, root+"/", "")
		s = strings.ReplaceAll(s, root, ".")
	}
	return s
}
