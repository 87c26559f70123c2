package testrun

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

// RunBase runs the plan on code that nobody has changed. If it is red, it is run once more
// without the variables that Signalbox sets, in the same sandbox: it returns that run if it
// is better, and the plan that made it. The change is then to be run by the same plan.
func RunBase(ctx context.Context, dir, commit string, plan Plan, runner Runner) (instance.Evidence, verdict.Run, Plan, error) {
	ev, run, err := Run(ctx, dir, commit, plan, runner)
	if err != nil || ev.OK || plan.bare || CouldNotRun(ev) || NothingTested(ev) {
		return ev, run, plan, err
	}
	bare := plan.Bare()
	again, without, err := Run(ctx, dir, commit, bare, runner)
	if err != nil {
		return instance.Evidence{}, verdict.Run{}, plan, err
	}
	if better(again, ev) {
		return again, without, bare, nil
	}
	return ev, run, plan, nil
}

// better reports whether a run is greener than another one of the same tests.
func better(a, b instance.Evidence) bool {
	if a.OK != b.OK {
		return a.OK
	}
	return a.Passed > b.Passed && len(a.Failed) < len(b.Failed)
}
