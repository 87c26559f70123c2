package role

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
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
	tree     *workspace.Tree              // to test in
	aside    []string                     // files that are as they were before the change
	changed  map[string]workspace.Version // these files as the change has them
	allAside bool                         // the change has no other files
	refused  bool                         // nothing is tested, for the sake of aside
	close    func()
}

// gate returns the tree to test in. An orchestrator that does not say who writes the
// code leaves it as it is, and so does the policy allow. The caller must close the gate.
func (s step) gate(ctx context.Context, tree, base *workspace.Tree, plans []testrun.Plan) (gate, error) {
	g := gate{tree: tree, close: func() {}}
	policy := s.testChanges()
	if tree.Head == tree.Base || len(s.job.Writers) == 0 || policy == changesAllow {
		return g, nil
	}
	put, rest, err := s.foreign(ctx, tree, base, plans)
	if err != nil || len(put) == 0 {
		return g, err
	}
	g.aside, g.allAside, g.changed = slices.Sorted(maps.Keys(put)), rest == 0, map[string]workspace.Version{}
	for _, name := range g.aside {
		if g.changed[name], err = tree.Version(ctx, tree.Head, name); err != nil {
			return g, err
		}
	}
	s.job.Progress("set aside, for it changes how it is tested: %s", brief(g.aside))
	if g.refused = policy == changesRefuse; g.refused {
		return g, nil
	}
	clean, err := s.checkout(ctx, tree.Head)
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
// version it is tested with. rest is how many other files the change has.
func (s step) foreign(ctx context.Context, tree, base *workspace.Tree, plans []testrun.Plan) (put map[string]workspace.Version, rest int, err error) {
	touched, err := tree.Touched(ctx, tree.Base, tree.Head)
	if err != nil {
		return nil, 0, err
	}
	judges, err := judgesOf(base, plans)
	if err != nil {
		return nil, 0, err
	}
	trusted, err := s.trusted(ctx, tree)
	if err != nil {
		return nil, 0, err
	}
	put = map[string]workspace.Version{}
	touched = slices.AppendSeq(touched, maps.Keys(trusted)) // what was there in between may be gone again
	slices.Sort(touched)
	for _, name := range slices.Compact(touched) {
		at, ok := trusted[name]
		is, was, now, before, err := versions(ctx, tree, cmp.Or(at, tree.Base), name)
		if err != nil {
			return nil, 0, err
		}
		if is == was {
			continue
		}
		rest++
		if s.acceptsFile(name, is) {
			continue
		}
		kind := judges.Kind(name, before, now)
		if ok && kind == testrun.Product && !testrun.Source(name) {
			based, err := tree.Version(ctx, tree.Base, name)
			if err != nil {
				return nil, 0, err
			}
			if based.Blob == "" {
				kind = testrun.Test // it came with the tests, which read it
			}
		}
		switch {
		case kind == testrun.Product:
			continue
		case kind == testrun.Test && len(s.job.Testers) == 0: // who writes the code writes the tests
			continue
		case path.Base(name) == "package.json" && is.Blob != "" && was.Blob != "":
			merged, _ := testrun.PackageJSON(before, now)
			if was, err = tree.Store(ctx, merged); err != nil {
				return nil, 0, err
			}
		}
		rest--
		put[name] = was
	}
	return put, rest, nil
}

// versions returns a file at the head of a tree and at another commit, and both contents, which it
// reads if they differ.
func versions(ctx context.Context, tree *workspace.Tree, at, name string) (is, was workspace.Version, now, before []byte, err error) {
	if is, err = tree.Version(ctx, tree.Head, name); err != nil {
		return
	}
	if was, err = tree.Version(ctx, at, name); err != nil || is == was {
		return
	}
	if now, err = tree.Content(ctx, is); err == nil {
		before, err = tree.Content(ctx, was)
	}
	return
}

// judgesOf finds what judges changes of the base by the plans.
func judgesOf(base *workspace.Tree, plans []testrun.Plan) (testrun.Judges, error) {
	root, err := os.OpenRoot(base.Dir)
	if err != nil {
		return testrun.Judges{}, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	defer root.Close()
	return testrun.JudgesOf(root.FS(), plans...), nil
}

// testFiles returns the versions of the change's test files that are tested, and who wrote
// each: the files of roles that do not write the code and, in lifecycles without a tester,
// the test files of those that do.
func (s step) testFiles(ctx context.Context, tree, base *workspace.Tree, plans []testrun.Plan) (map[string]workspace.Version, []verdict.Written, error) {
	touched, err := tree.Touched(ctx, tree.Base, tree.Head)
	if err != nil {
		return nil, nil, err
	}
	judges, err := judgesOf(base, plans)
	if err != nil {
		return nil, nil, err
	}
	by, err := s.authors(ctx, tree)
	if err != nil {
		return nil, nil, err
	}
	files, written := map[string]workspace.Version{}, []verdict.Written(nil)
	for _, name := range touched {
		author := by[name]
		at := cmp.Or(author.at, tree.Head)
		is, err := tree.Version(ctx, at, name)
		if err != nil {
			return nil, nil, err
		}
		if author.tests { // by a role that does not write the code
			files[name] = is
			written = append(written, verdict.Written{File: name, By: author.role})
			continue
		}
		now, err := tree.Content(ctx, is)
		if err != nil {
			return nil, nil, err
		}
		kind := judges.Kind(name, nil, now)
		self := len(s.job.Testers) == 0 && kind == testrun.Test
		if is.Blob != "" && kind != testrun.Product && (self || s.acceptsFile(name, is)) {
			files[name] = is
			written = append(written, verdict.Written{File: name, By: cmp.Or(author.role, "developer"), Self: self})
		}
	}
	return files, written, nil
}

// author is who changed a file last.
type author struct {
	role  string
	at    string // the commit
	tests bool   // the role does not write the code
}

// authors returns who changed each file last. A file that a tester has changed is the
// tester's: what those who write the code do to it afterwards is set aside.
func (s step) authors(ctx context.Context, tree *workspace.Tree) (map[string]author, error) {
	by := map[string]author{}
	from := tree.Base
	for _, b := range s.job.Bundles {
		if b.Head == tree.Base || b.Head == from {
			continue
		}
		names, err := tree.Touched(ctx, from, b.Head)
		if err != nil {
			return nil, err
		}
		tests := len(s.job.Writers) > 0 && b.Role != "" && !slices.Contains(s.job.Writers, b.Role)
		for _, name := range names {
			if tests || !by[name].tests {
				by[name] = author{b.Role, b.Head, tests}
			}
		}
		from = b.Head
	}
	return by, nil
}

// trusted returns, by path, the newest commit in which a role that does not write the
// code changed the file.
func (s step) trusted(ctx context.Context, tree *workspace.Tree) (map[string]string, error) {
	by, err := s.authors(ctx, tree)
	at := map[string]string{}
	for name, author := range by {
		if author.tests {
			at[name] = author.at
		}
	}
	return at, err
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

// maxAside is how many files a finding names.
const maxAside = 20

func brief(names []string) string {
	if more := len(names) - maxAside; more > 0 {
		return strings.Join(names[:maxAside], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
