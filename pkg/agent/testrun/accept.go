package testrun

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/work"
)

// Acceptance is the name of the evidence that Accept makes; Build of the one
// that the checks of a build make together.
const (
	Acceptance = work.Acceptance
	Build      = work.Build
)

// Accept runs every plan in dir, which holds the commit, and returns evidence
// that is OK only if all passed (story lifecycle, acceptance criteria). Without
// a plan it is not. The only error is one that wraps brain.ErrInfrastructure.
func Accept(ctx context.Context, dir, commit string, plans []Plan, runner Runner) (instance.Evidence, error) {
	var all []instance.Evidence
	for _, plan := range plans {
		ev, err := Run(ctx, dir, commit, plan, runner)
		if err != nil {
			return instance.Evidence{}, err
		}
		all = append(all, ev)
	}
	return Together(Acceptance, commit, all), nil
}

// Together is one evidence of several on a commit, OK only if there are some and
// all are. It counts checks, not tests; Failed names the commands that failed,
// Output is theirs, and Data has how each command ended.
func Together(name, commit string, all []instance.Evidence) instance.Evidence {
	sum := instance.Evidence{Name: name, Commit: commit, OK: len(all) > 0, Data: map[string]string{}}
	var commands, output []string
	for _, ev := range all {
		command := ev.Command
		if command == "" {
			command = ev.Name
		}
		sum.Millis += ev.Millis
		commands = append(commands, command)
		if ev.OK {
			sum.Passed++
			sum.Data[command] = ending(ev)
			continue
		}
		if sum.OK {
			sum.OK, sum.ExitCode = false, ev.ExitCode
		}
		sum.Data[command] = ending(ev)
		if !slices.Contains(sum.Failed, command) {
			sum.Failed = append(sum.Failed, command)
		}
		output = append(output, "--- FAIL: "+command)
		output = append(output, clip(ev.Output, maxTestLines)...)
	}
	if len(all) == 0 {
		sum.ExitCode, output = -1, []string{"nothing was run"}
	}
	if left := len(output) - maxLines; left > 0 {
		output = append(output[:maxLines], fmt.Sprintf("… %d lines left out", left))
	}
	sum.Command, sum.Output = strings.Join(commands, " && "), strings.Join(output, "\n")
	return sum
}

// ending is how a check ended, in a line.
func ending(ev instance.Evidence) string {
	switch {
	case ev.OK && ev.Passed > 0:
		return fmt.Sprintf("passed, %d tests", ev.Passed)
	case ev.OK:
		return "passed"
	}
	line, _, _ := strings.Cut(ev.Output, "\n")
	return strings.TrimRight(fmt.Sprintf("exit code %d: %s", ev.ExitCode, strings.Join(clip(line, 1), "")), ": ")
}
