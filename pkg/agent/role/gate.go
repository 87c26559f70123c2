package role

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/work"
)

// Values of the policy test_changes: what becomes of changes that the roles which
// write the code make to tests, and to what runs them.
const (
	changesAside  = "aside"  // the tests run without them
	changesRefuse = "refuse" // the tests do not run
	changesAllow  = "allow"  // the tests run with them
)

// gate is the work of a tree as it is tested. The tests, and what runs them, are those of
// the base and of the roles that do not write the code.
type gate struct {
	tree    *workspace.Tree // to test in
	aside   []string        // files that are as they were before the change
	refused bool            // nothing is tested, for the sake of aside
	close   func()
}

// gate returns the tree to test in. An orchestrator that does not say who writes the
// code leaves it as it is, and so does the policy allow. The caller must close the gate.
func (s step) gate(ctx context.Context, tree, base *workspace.Tree, plans []testrun.Plan) (gate, error) {
	g := gate{tree: tree, close: func() {}}
	policy := s.testChanges()
	if tree.Head == tree.Base || len(s.job.Writers) == 0 || policy == changesAllow {
		return g, nil
	}
	put, err := s.foreign(ctx, tree, base, plans)
	if err != nil || len(put) == 0 {
		return g, err
	}
	g.aside = slices.Sorted(maps.Keys(put))
	s.job.Progress("set aside, for it changes how it is tested: %s", brief(g.aside))
	if g.refused = policy == changesRefuse; g.refused {
		return g, nil
	}
	clean, err := s.Workspace.Checkout(ctx, spec(s.job, tree.Head))
	if err != nil {
		return g, err
	}
	g.tree, g.close = clean, func() { s.close(clean) }
	return g, clean.Restore(ctx, put)
}

// testChanges is the policy, aside if there is none.
func (s step) testChanges() string {
	if policy, ok := s.job.Policy["test_changes"].(string); ok && policy != "" {
		return policy
	}
	return changesAside
}

// foreign returns the files with which the tree is not to be tested, each with the
// version it is tested with.
func (s step) foreign(ctx context.Context, tree, base *workspace.Tree, plans []testrun.Plan) (map[string]workspace.Version, error) {
	touched, err := tree.Touched(ctx, tree.Base, tree.Head)
	if err != nil {
		return nil, err
	}
	called, err := called(base, plans)
	if err != nil {
		return nil, err
	}
	trusted, err := s.trusted(ctx, tree)
	if err != nil {
		return nil, err
	}
	put := map[string]workspace.Version{}
	touched = slices.AppendSeq(touched, maps.Keys(trusted)) // what was there in between may be gone again
	slices.Sort(touched)
	for _, name := range slices.Compact(touched) {
		is, err := tree.Version(ctx, tree.Head, name)
		if err != nil {
			return nil, err
		}
		at, ok := trusted[name]
		if !ok {
			at = tree.Base
		}
		was, err := tree.Version(ctx, at, name)
		if err != nil {
			return nil, err
		}
		if is == was {
			continue
		}
		now, err := tree.Content(ctx, is)
		if err != nil {
			return nil, err
		}
		before, err := tree.Content(ctx, was)
		if err != nil {
			return nil, err
		}
		kind := testrun.KindOf(name, now)
		if kind != testrun.Harness { // a test may become what runs tests, and the other way round
			kind = cmp.Or(testrun.KindOf(name, before), kind)
		}
		switch {
		case isPackageJSON(name) && is.Blob != "" && was.Blob != "":
			if testrun.SameHarness(before, now) {
				continue
			}
			merged, _ := testrun.PackageJSON(before, now)
			if was, err = tree.Store(ctx, merged); err != nil {
				return nil, err
			}
		case isPackageJSON(name) && was.Blob == "" && name != "package.json": // a package that is new is its own
			continue
		case slices.Contains(called, name), kind == testrun.Harness:
		case kind == testrun.Test && len(s.job.Testers) > 0: // else who writes the code writes the tests
		default:
			continue
		}
		put[name] = was
	}
	return put, nil
}

func isPackageJSON(name string) bool {
	return name == "package.json" || strings.HasSuffix(name, "/package.json")
}

// called lists the scripts that plans call, as the base has them.
func called(base *workspace.Tree, plans []testrun.Plan) ([]string, error) {
	root, err := os.OpenRoot(base.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	defer root.Close()
	var all []string
	for _, plan := range plans {
		all = append(all, testrun.Called(root.FS(), plan)...)
	}
	return all, nil
}

// trusted returns, by path, the newest commit in which a role that does not write the
// code changed the file.
func (s step) trusted(ctx context.Context, tree *workspace.Tree) (map[string]string, error) {
	at := map[string]string{}
	from := tree.Base
	for _, b := range s.job.Bundles {
		if b.Head == tree.Base || b.Head == from {
			continue
		}
		if !slices.Contains(s.job.Writers, b.Role) {
			names, err := tree.Touched(ctx, from, b.Head)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				at[name] = b.Head
			}
		}
		from = b.Head
	}
	return at, nil
}

// evidence is what the gate says in place of a run that the policy refuses.
func (g gate) evidence(commit string, plan testrun.Plan) instance.Evidence {
	return instance.Evidence{
		Name: cmp.Or(plan.Check, testrun.Name), Commit: commit, Command: plan.Command(), ExitCode: -1,
		Failed: []string{"the change touches what tests it"},
		Output: "the change touches what tests it, and the policy test_changes is refuse: " + brief(g.aside) +
			"\nleave these files as they were; a role that does not write the code may change them",
	}
}

// findings adds to evidence of tests what was set aside for it, and how the number of
// tests changed against the base.
func findings(ev instance.Evidence, aside []string, base instance.Evidence) instance.Evidence {
	var said []string
	if len(aside) > 0 {
		said = append(said, "the change touches what tests it; tested without that: "+brief(aside))
	}
	if before, after := tests(base), tests(ev); before > after {
		said = append(said, fmt.Sprintf("%d of %d tests are gone", before-after, before))
	}
	if tests(base) > 0 && tests(ev) == 0 && ev.OK {
		ev.OK, ev.Output = false, fmt.Sprintf("nothing was tested: none of the %d tests that run on the base ran\n%s", tests(base), ev.Output)
	}
	if more := ev.Skipped - base.Skipped; tests(base) > 0 && more > 0 {
		said = append(said, fmt.Sprintf("%d tests are skipped, %d more than before", ev.Skipped, more))
	}
	if len(said) == 0 {
		return ev
	}
	ev.Data = maps.Clone(ev.Data)
	if ev.Data == nil {
		ev.Data = map[string]string{}
	}
	ev.Data[work.Findings] = strings.Join(said, "; ")
	return ev
}

// tests counts the tests of a run; 0 if they could not be counted.
func tests(ev instance.Evidence) int { return ev.Passed + len(ev.Failed) + ev.Skipped }

// maxAside is how many files a finding names.
const maxAside = 20

func brief(names []string) string {
	if more := len(names) - maxAside; more > 0 {
		return strings.Join(names[:maxAside], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
