package testrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Name names the evidence of tests.
const Name = work.Tests

// maxOutput limits the bytes of output that are kept for the parsers. The events of
// go test are parsed as they arrive, without this limit.
const maxOutput = 4 << 20

// Runner runs one command under limits; sandbox.Sandbox implements it. Its error
// means that the command was not started, or is the cause of ctx's end.
type Runner interface {
	Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error)
}

// Run runs the plan in dir, which has the commit checked out, and returns evidence.
// Failing tests, a missing program and a timeout are not errors but evidence that
// is not OK. Its errors wrap brain.ErrInfrastructure.
//
// Evidence is OK if the command exited with 0 and reported no failing test. If the
// output can be counted, it must have at least one test.
//
// The verdict.Run has the same run test by test.
func Run(ctx context.Context, dir, commit string, plan Plan, runner Runner) (instance.Evidence, verdict.Run, error) {
	if len(plan.Parts) > 0 {
		return plan.runParts(ctx, dir, commit, runner)
	}
	root := dir
	dir = plan.at(dir)
	var events goEvents
	c := sandbox.Command{
		Argv: plan.Argv, Dir: dir, Env: plan.environ(), Bare: plan.bare,
		Wall: plan.Timeout, MaxOutput: maxOutput,
	}
	// Standard output is read by itself only where it has events: cargo names the file of the
	// tests on the one, and the tests on the other, and their order counts.
	apart := plan.Runner == "go" || strings.Contains(plan.Command(), "-json")
	if apart {
		c.Stdout = &events
	}
	if plan.Dir != "" {
		c.Writable = []string{root} // a part may use files of its directory
	}
	if err := plan.removeReports(dir); err != nil {
		return instance.Evidence{}, verdict.Run{}, fmt.Errorf("%w: remove old reports of %s: %w", brain.ErrInfrastructure, plan.Command(), err)
	}
	res, err := runner.Run(ctx, c)
	ev := instance.Evidence{
		Name: cmp.Or(plan.Check, Name), Commit: commit, Command: plan.Command(),
		ExitCode: res.ExitCode, Millis: res.Duration.Milliseconds(),
	}
	if errors.Is(err, exec.ErrNotFound) {
		ev.Output = couldNotRun + plan.Argv[0] + notInstalled
		return ev, verdict.Run{Commit: commit, Command: ev.Command, Output: ev.Output}, nil
	}
	if err == nil {
		err = context.Cause(ctx) // the output of a stopped run is no evidence
	}
	if err != nil {
		return instance.Evidence{}, verdict.Run{}, fmt.Errorf("%w: run %s on %s: %w", brain.ErrInfrastructure, plan.Command(), commit, err)
	}
	if !apart {
		_, _ = events.Write(res.Output) // it never fails
	}
	out := clean(string(res.Output), dir)
	r := parse(&events, out, res.OK())
	if reported := plan.reports(dir); reported.counted {
		r = reported
	}
	ev = judge(ev, res, r, out)
	explainNothing(&ev, plan, dir)
	ev.Output = clean(ev.Output, dir) // the events were not
	confinement(&ev, res)
	explainMissing(&ev, out, plan, dir, res.Mode)
	return ev, outcomes(ev, r, out, dir), nil
}

// confinement records how the run was confined. Its refusals explain a failure.
func confinement(ev *instance.Evidence, res sandbox.Result) {
	if res.Mode == "" {
		return
	}
	if ev.Data == nil {
		ev.Data = map[string]string{}
	}
	ev.Data["sandbox"] = string(res.Mode)
	if len(res.Refused) == 0 {
		return
	}
	ev.Data["refused"] = strings.Join(res.Refused, "\n")
	if !ev.OK {
		ev.Output += "\nThe sandbox let none of these out:\n" + ev.Data["refused"]
	}
}

// CouldNotRun reports whether the tests did not run because of something outside
// the work, such as a missing program.
func CouldNotRun(ev instance.Evidence) bool {
	return !ev.OK && strings.HasPrefix(ev.Output, couldNotRun)
}

const (
	couldNotRun  = "could not run: "
	notInstalled = " is not installed here"
)

// noProgram matches the messages of bubblewrap and Python about a missing program.
var noProgram = lazyregexp.New(`(?m)^(?:(?:bwrap|sandbox): execvp (\S+): No such file or directory|\S*python\S*: No module named (pytest))$`)

// saysFailed matches the summary of a runner that is not known here and counts failures.
var saysFailed = lazyregexp.New(`(?im)^\W*(?:\w+:? +)?(?:(?:[1-9]\d*) (?:of \d+ )?(?:(?:tests?|specs?|checks?|assertions?|examples?|scenarios?|cases?) )?(?:have |has )?fail(?:ed|ures?|ing|s)?\b|tests? failed\b|fail(?:ed|ures)(?: tests?)?: *[1-9]\d*\b)`)

func judge(ev instance.Evidence, res sandbox.Result, r report, out string) instance.Evidence {
	ev.Passed, ev.Failed, ev.Skipped = r.passed, r.names(), r.skipped
	telling := r.text(withoutEvents(out))
	m := noProgram.FindStringSubmatch(out)
	switch {
	case !res.OK() && m != nil:
		ev.Output = couldNotRun + m[1] + m[2] + notInstalled
	case res.ExitCode == 126 || res.ExitCode == 127: // exit codes of a shell that cannot run the program
		ev.Output = couldNotRun + "a program that the tests call is missing; a command that installs it first can be set in " + ConfigFile +
			"\n" + telling
	case res.TimedOut != "":
		ev.Output = res.String() + "\n" + telling
	case res.OK() && len(ev.Failed) > 0:
		ev.Output = "exit code 0, yet tests are reported as failing\n" + telling
	case res.OK() && !r.counted && saysFailed.MatchString(out):
		ev.Output = "exit code 0, yet the output reports failing tests\n" + telling
	case r.counted && r.passed == 0 && len(ev.Failed) == 0:
		ev.Output = nothing + "no test ran\n" + telling
	case !res.OK():
		ev.Output = telling
	default:
		ev.OK = true
	}
	return ev
}

// clean removes terminal colours and the paths of this machine from output.
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
