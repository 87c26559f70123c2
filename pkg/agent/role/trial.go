package role

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// runs is how a trial runs its tests: the whole command, or the tests of these names. only
// is false if it cannot select them; then it ran all.
type runs func(ctx context.Context, tree *workspace.Tree, commit string, names []string) (ev instance.Evidence, run verdict.Run, only bool, err error)

// trial compares the tests of a change with those of its base.
type trial struct {
	step
	of    comparison
	proof *workspace.Tree // the base with the test files of the change; nil until it is needed
	files map[string]workspace.Version
	first instance.Evidence // of the first run of the change
	input verdict.Input
	seen  map[string]int // how many runs were taken, by key
}

// maxRounds bounds how often a trial asks for further runs.
const maxRounds = 20

// try runs the tests on the base and on the change, and as often again as the verdict needs.
// It returns evidence with the judgement. The tests of the base are run once by each process.
func (t *trial) try(ctx context.Context) (instance.Evidence, error) {
	defer func() { t.close(t.proof) }()
	t.seen = map[string]int{}
	before, err := t.onBase(ctx)
	if err != nil {
		return instance.Evidence{}, err
	}
	if t.first, err = t.run(ctx, verdict.OnChange, nil); err != nil {
		return instance.Evidence{}, err
	}
	if testrun.CouldNotRun(t.first) {
		return t.first, nil // it says nothing of the change
	}
	t.input.BaseCount, t.input.ChangeCount = count(before), count(t.first)
	if len(t.of.gate.aside) > 0 {
		if err := t.bothWays(ctx); err != nil {
			return instance.Evidence{}, err
		}
	}
	for range maxRounds {
		want, more := verdict.Next(t.input)
		if !more {
			break
		}
		for range want.Times {
			if _, err := t.run(ctx, want.On, want.Names); err != nil {
				return instance.Evidence{}, err
			}
		}
	}
	j, ruling := verdict.Judge(t.input)
	return t.evidence(j, ruling), nil
}

// onBase makes the first run on the base, or takes the one that was made.
func (t *trial) onBase(ctx context.Context) (instance.Evidence, error) {
	if t.of.before == nil {
		return t.run(ctx, verdict.OnBase, nil)
	}
	run := t.of.before.run
	run.Output = testrun.Steady(run.Output)
	t.input.OnBase = append(t.input.OnBase, run)
	t.seen[t.key(verdict.OnBase, nil, nil)]++
	return t.of.before.ev, nil
}

// bothWays runs the change with all its files, too.
func (t *trial) bothWays(ctx context.Context) error {
	if err := t.setUp(ctx, t.of.tree); err != nil {
		return err
	}
	t.job.Progress("running %s with all files of the change", t.of.command)
	_, run, _, err := t.of.runs(ctx, t.of.tree, t.of.tree.Head, nil)
	t.input.AsChanged = &run
	return err
}

// run makes a run and adds it to the input. It takes one that the process made before.
func (t *trial) run(ctx context.Context, on verdict.Place, names []string) (instance.Evidence, error) {
	tree, versions := t.of.gate.tree, map[string]workspace.Version(nil)
	switch on {
	case verdict.OnBase:
		tree = t.of.base
	case verdict.OnProof:
		versions = t.files
	}
	if on == verdict.OnProof && len(t.input.OnProof) == 0 {
		if _, made := t.Baselines.get(t.key(on, versions, nil), 0); made { // of all tests, when they were written
			names = nil
		}
	}
	key := t.key(on, versions, names)
	n := t.seen[key]
	t.seen[key]++
	made, ok := madeRun{}, false
	if on != verdict.OnChange {
		made, ok = t.Baselines.get(key, n)
	}
	if !ok {
		var err error
		if on == verdict.OnProof && t.proof == nil {
			if t.proof, err = t.checkout(ctx, t.of.base.Base); err == nil {
				err = t.proof.Restore(ctx, t.files)
			}
			if err != nil {
				return instance.Evidence{}, err
			}
		}
		if on == verdict.OnProof {
			tree = t.proof
		}
		if made, err = t.make(ctx, on, tree, names); err != nil {
			return instance.Evidence{}, err
		}
		if on != verdict.OnChange && testrun.Obstacle(made.ev) == "" {
			t.Baselines.put(key, made)
		}
	}
	run := made.run
	run.Output = testrun.Steady(run.Output)
	switch on {
	case verdict.OnBase:
		t.input.OnBase = append(t.input.OnBase, run)
	case verdict.OnChange:
		t.input.OnChange = append(t.input.OnChange, run)
	case verdict.OnProof:
		t.input.OnProof = append(t.input.OnProof, run)
	}
	return made.ev, nil
}

func (t *trial) make(ctx context.Context, on verdict.Place, tree *workspace.Tree, names []string) (madeRun, error) {
	if err := t.setUp(ctx, tree); err != nil {
		return madeRun{}, err
	}
	where := map[verdict.Place]string{verdict.OnBase: " on the base", verdict.OnProof: " on the base with the tests of the change"}[on]
	commit := tree.Head
	switch {
	case len(names) > 0:
		t.job.Progress("running %s again%s", brief(names[:min(len(names), 3)]), where)
	default:
		t.job.Progress("running %s%s", t.of.command, where)
	}
	if on == verdict.OnChange {
		commit = t.of.tree.Head
	}
	ev, run, only, err := t.of.runs(ctx, tree, commit, names)
	if only {
		run.Only = names
	}
	if len(names) > 0 && !only {
		t.input.Whole = true
	}
	return madeRun{ev: ev, run: run}, err
}

// key names a run by what is run on what: the base's commit, and the files that differ.
func (t *trial) key(on verdict.Place, versions map[string]workspace.Version, names []string) string {
	if on == verdict.OnChange {
		return "change\x00" + strings.Join(names, "\x00")
	}
	return t.contentKey(t.of.base.Base, t.of.command, versions, names)
}

// contentKey names a run of a command on a base in which some files have other versions.
func (s step) contentKey(base, command string, versions map[string]workspace.Version, names []string) string {
	parts := []string{s.job.Issue.Repo, base, command}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		parts = append(parts, name, versions[name].Mode, versions[name].Blob)
	}
	return strings.Join(slices.Concat(parts, []string{"\x01"}, names), "\x00")
}

// evidence is what a judgement comes to.
func (t *trial) evidence(j verdict.Judgement, r verdict.Ruling) instance.Evidence {
	ev := t.first
	switch whole := len(r.Failing) == 1 && r.Failing[0] == t.input.OnBase[0].Command; {
	case t.of.criteria && !ev.OK:
		j.Shown, j.Tests, j.Unproven, j.Question = false, nil, "not all acceptance criteria pass", ""
	case r.OK:
		ev.OK, ev.Failed = true, nil
	case whole && !t.first.OK:
	default:
		ev.OK, ev.Failed = false, r.Failing
		if !strings.HasPrefix(ev.Output, "nothing was tested") {
			ev.Output = strings.TrimSpace(r.Why + "\n" + t.outputs(r.Failing, ev.Output))
		}
	}
	ev.Data = maps.Clone(ev.Data)
	if len(j.Findings) > 0 {
		if ev.Data == nil {
			ev.Data = map[string]string{}
		}
		ev.Data[work.Findings] = strings.Join(j.Findings, "; ")
	}
	ev.Judgement = &j
	return ev
}

// outputs is what the failing tests print; all if they print nothing of their own.
func (t *trial) outputs(failing []string, all string) string {
	var out []string
	runs := slices.Clone(t.input.OnChange)
	if t.input.AsChanged != nil {
		runs = append(runs, *t.input.AsChanged)
	}
	for _, name := range failing[:min(len(failing), maxAside)] {
		for _, run := range runs {
			i := slices.IndexFunc(run.Tests, func(test verdict.Test) bool { return test.Name == name && test.Output != "" })
			if i >= 0 {
				out = append(out, "--- FAIL: "+name, run.Tests[i].Output)
				break
			}
		}
	}
	if len(out) == 0 {
		return all
	}
	return strings.Join(out, "\n")
}

func count(ev instance.Evidence) verdict.Count {
	return verdict.Count{Passed: ev.Passed, Failed: len(ev.Failed), Skipped: ev.Skipped}
}

// byPlan runs the tests by a plan.
func (s step) byPlan(plan testrun.Plan) runs {
	return func(ctx context.Context, tree *workspace.Tree, commit string, names []string) (instance.Evidence, verdict.Run, bool, error) {
		selected, only := plan, false
		if len(names) > 0 {
			if p, ok := plan.Only(names); ok {
				selected, only = p, true
			}
		}
		ev, run, err := testrun.Run(ctx, tree.Dir, commit, selected, s.runner(tree))
		return ev, run, only, err
	}
}

// flakeRuns is the policy flake_runs, 2 if there is none.
func (s step) flakeRuns() int {
	if n, err := strconv.Atoi(fmt.Sprint(s.job.Policy["flake_runs"])); err == nil {
		return n
	}
	return 2
}
