package role

import (
	"context"
	"slices"

	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// demonstrate runs the demonstration of the base's configuration on the base and on the change, in the
// trees that the tests have left. It returns nil if the base has none. A run that fails is shown and
// judges nothing: on the base it may show the bug.
func (s step) demonstrate(ctx context.Context, c comparison) (*instance.Demo, error) {
	content, err := settings(ctx, c.base)
	if err != nil {
		return nil, err
	}
	d, err := testrun.ReadDemo(content)
	if err != nil {
		s.job.Progress("no demonstration: %v", err)
	}
	if d == nil {
		return nil, nil
	}
	shown := &instance.Demo{Command: d.Command(), Page: d.Page}
	if shown.Base, err = s.show(ctx, *d, c.base, c.tree.Base, "demo-base"); err == nil {
		shown.Change, err = s.show(ctx, *d, c.gate.tree, c.tree.Head, "demo-change")
	}
	return shown, err
}

// show runs the demonstration in a tree, and stores the output and the picture under the name. The
// error is the end of the context, or of the object store.
func (s step) show(ctx context.Context, d testrun.Demo, tree *workspace.Tree, commit, name string) (instance.DemoRun, error) {
	failed := func(err error) (instance.DemoRun, error) {
		return instance.DemoRun{Commit: commit, Ended: "not run: " + oneLine(err.Error())}, context.Cause(ctx)
	}
	if err := s.setUp(ctx, tree); err != nil {
		return failed(err)
	}
	s.job.Progress("showing %s on %.10s", d.Command(), commit)
	shown, err := d.Show(ctx, tree.Dir, commit, s.Chromium, s.runner(tree))
	if err != nil {
		return failed(err)
	}
	run := shown.DemoRun
	if len(shown.Whole) > 0 {
		a, err := s.keep(ctx, name+".txt", shown.Whole)
		if run.Whole = &a; err != nil {
			return run, err
		}
	}
	if shown.Picture != nil {
		a, err := s.put(ctx, name+".png", shown.Picture)
		if run.Picture = &a; err != nil {
			return run, err
		}
	}
	return run, nil
}

// left lists the artifacts of the demonstrations in evidence that are not in the log yet.
func (s step) left(evidence []instance.Evidence) (all []instance.Artifact) {
	for _, ev := range evidence {
		known := slices.ContainsFunc(s.job.Evidence, func(e instance.Evidence) bool { return e.Demo != nil && e.Demo == ev.Demo })
		if ev.Demo != nil && !known {
			all = append(all, ev.Demo.Artifacts()...)
		}
	}
	return all
}
