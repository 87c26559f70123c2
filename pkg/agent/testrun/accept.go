package testrun

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Acceptance names the evidence of Accept, Build that of all checks of a build.
const (
	Acceptance = work.Acceptance
	Build      = work.Build
)

// Accept runs every plan in dir, which has the commit checked out. The evidence is
// OK only if there is a plan and all passed (story lifecycle, acceptance criteria).
// Its errors wrap brain.ErrInfrastructure.
func Accept(ctx context.Context, dir, commit string, plans []Plan, runner Runner) (instance.Evidence, error) {
	var all []instance.Evidence
	for _, plan := range plans {
		ev, _, err := Run(ctx, dir, commit, plan, runner)
		if err != nil {
			return instance.Evidence{}, err
		}
		all = append(all, ev)
	}
	return Together(Acceptance, commit, all), nil
}

// Together merges evidence of several checks on a commit. It is OK only if there is
// a check and all are OK. It counts checks, not tests. Failed and Output are those
// of the failed commands; Data has the end of each command.
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

// ending describes in a line how a check ended.
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
