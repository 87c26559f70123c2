package testrun

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

// Limits of the search for tests below the root.
const (
	maxDepth = 3  // directories
	maxParts = 12 // of one plan
)

// together returns the plan that runs several plans, one after the other. The names of their
// tests have the label of their plan before them.
func together(parts []Plan) Plan {
	if len(parts) == 1 {
		return parts[0]
	}
	whole := Plan{Check: parts[0].Check, Tool: "several", Parts: parts}
	for _, p := range parts {
		whole.Timeout += p.Timeout
	}
	return whole
}

// label names a part: its directory, or its tool if several share the directory.
func (p Plan) label(i int) string {
	part := p.Parts[i]
	shared := slices.ContainsFunc(slices.Concat(p.Parts[:i], p.Parts[i+1:]), func(o Plan) bool { return o.Dir == part.Dir })
	switch tool := cmp.Or(part.Runner, part.Tool); {
	case part.Dir == "":
		return tool
	case shared:
		return part.Dir + " " + tool
	}
	return part.Dir
}

// Touching returns the plan of the parts that these files belong to: a file belongs to the
// nearest directory above it that has a part. It is the whole plan if they belong to none.
func (p Plan) Touching(files []string) Plan {
	if len(p.Parts) == 0 {
		return p
	}
	dirs := map[string]bool{}
	for _, part := range p.Parts {
		dirs[part.Dir] = false
	}
	for _, name := range files {
		for dir := path.Dir(name); ; dir = path.Dir(dir) {
			at := dir
			if at == "." {
				at = ""
			}
			if _, ok := dirs[at]; ok {
				dirs[at] = true
				break
			}
			if at == "" {
				return p // a file of all
			}
		}
	}
	// The labels stay those of the whole plan, so that names can be compared.
	narrow := p
	narrow.Parts = nil
	for i, part := range p.Parts {
		part.Label = p.label(i)
		if dirs[part.Dir] {
			narrow.Parts = append(narrow.Parts, part)
		}
	}
	if len(narrow.Parts) == 0 {
		return p
	}
	return narrow
}

// below finds plans in the directories below the root, the nearest to it first. A directory
// below one that has a plan belongs to that plan.
func below(tree fs.FS, check string) (parts []Plan, err error) {
	settings, err := settingsOf(tree)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return nil // what cannot be read has no tests that run
		case !d.IsDir() || name == ".":
			return nil
		case strings.HasPrefix(base, ".") || slices.Contains([]string{"node_modules", "vendor", "testdata", "fixtures", "examples", "example", "third_party", "dist", "target"}, base):
			return fs.SkipDir
		case len(parts) >= maxParts:
			return fs.SkipAll
		}
		sub, err := fs.Sub(tree, name)
		if err != nil {
			return err
		}
		found, err := ofRoot(sub, check)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, p := range found {
			p.Dir = name
			p.Source, p.Env = path.Join(name, p.Source), append(p.Env, settings.Env...)
			parts = append(parts, p)
		}
		if len(found) > 0 || strings.Count(name, "/")+1 >= maxDepth {
			return fs.SkipDir
		}
		return nil
	})
	return parts, err
}

// ofRoot returns the plans of the languages at the root of a tree. CMake and make are one only
// where no other is: they call the others.
func ofRoot(tree fs.FS, check string) (parts []Plan, err error) {
	for _, detect := range []detector{goModule, nodeTest, python, cargo, maven, ruby, perl, cmake, makeTest} {
		plan, found, err := first(tree, check, detect)
		if err != nil {
			return nil, err
		}
		if found && (plan.Tool != "make" && plan.Tool != "cmake" || len(parts) == 0) {
			parts = append(parts, plan)
		}
	}
	return parts, nil
}

// maven detects a project of Maven.
func maven(tree fs.FS, _ string) (Plan, bool, error) {
	return Plan{
		Tool: "maven", Runner: "maven", Source: "pom.xml", Report: "**/target/surefire-reports/TEST-*.xml",
		Argv: []string{"mvn", "-B", "-o", "-fae", "test"}, // offline: the sandbox has no network
	}, exists(tree, "pom.xml"), nil
}

// runParts runs each part. A part that could not run, or tests nothing, is left out if another
// one has tested something: it judges neither base nor change.
func (p Plan) runParts(ctx context.Context, dir, commit string, runner Runner) (instance.Evidence, verdict.Run, error) {
	var all []instance.Evidence
	var runs []verdict.Run
	for _, part := range p.Parts {
		part.bare = p.bare
		ev, run, err := Run(ctx, dir, commit, part, runner)
		if err != nil {
			return instance.Evidence{}, verdict.Run{}, err
		}
		all, runs = append(all, ev), append(runs, run)
	}
	idle := func(ev instance.Evidence) bool { return CouldNotRun(ev) || NothingTested(ev) }
	tested := slices.ContainsFunc(all, func(ev instance.Evidence) bool { return !idle(ev) })
	sum := instance.Evidence{Name: cmp.Or(p.Check, Name), Commit: commit, Command: p.Command(), OK: true, Data: map[string]string{}}
	run := verdict.Run{Commit: commit, Command: sum.Command, OK: true, Named: true}
	var output, outputs, left []string
	for i, ev := range all {
		label := cmp.Or(p.Parts[i].Label, p.label(i))
		sum.Millis += ev.Millis
		if tested && idle(ev) {
			said, _, _ := strings.Cut(ev.Output, "\n")
			left = append(left, label+": "+said)
			continue
		}
		maps.Copy(sum.Data, ev.Data)
		sum.Passed, sum.Skipped = sum.Passed+ev.Passed, sum.Skipped+ev.Skipped
		for _, name := range ev.Failed {
			sum.Failed = append(sum.Failed, label+": "+name)
		}
		if !ev.OK {
			output = append(output, ev.Output)
			if sum.OK {
				sum.OK, sum.ExitCode = false, ev.ExitCode
			}
		}
		run.OK, run.Named = run.OK && runs[i].OK, run.Named && runs[i].Named
		for _, t := range runs[i].Tests {
			t.Name = label + ": " + t.Name
			if t.File != "" {
				t.File = path.Join(p.Parts[i].Dir, t.File)
			}
			run.Tests = append(run.Tests, t)
		}
		outputs = append(outputs, runs[i].Output)
	}
	if len(left) > 0 {
		sum.Data["not_run"] = strings.Join(left, "\n")
	}
	slices.Sort(sum.Failed)
	slices.SortStableFunc(run.Tests, func(a, b verdict.Test) int { return strings.Compare(a.Name, b.Name) })
	sum.Output, run.Output = strings.Join(output, "\n"), strings.Join(outputs, "\n")
	return sum, run, nil
}

// onlyParts selects tests of several parts.
func (p Plan) onlyParts(names []string) (Plan, bool) {
	by := map[int][]string{}
	for _, name := range names {
		i := 0
		for i < len(p.Parts) && !strings.HasPrefix(name, p.labelOf(i)+": ") {
			i++
		}
		if i == len(p.Parts) {
			return Plan{}, false
		}
		by[i] = append(by[i], strings.TrimPrefix(name, p.labelOf(i)+": "))
	}
	narrow := p
	narrow.Parts = nil
	for _, i := range slices.Sorted(maps.Keys(by)) {
		part, ok := p.Parts[i].Only(by[i])
		if !ok {
			return Plan{}, false
		}
		part.Label = p.labelOf(i)
		narrow.Parts = append(narrow.Parts, part)
	}
	return narrow, len(narrow.Parts) > 0
}

func (p Plan) labelOf(i int) string { return cmp.Or(p.Parts[i].Label, p.label(i)) }

// listParts lists the tests of several parts. It is false if one of them cannot be listed.
func (p Plan) listParts(ctx context.Context, dir string, runner Runner) ([]string, bool, error) {
	var all []string
	for i, part := range p.Parts {
		names, ok, err := List(ctx, dir, part, runner)
		if err != nil || !ok {
			return nil, false, err
		}
		for _, name := range names {
			all = append(all, p.labelOf(i)+": "+name)
		}
	}
	slices.Sort(all)
	return all, len(all) > 0, nil
}

// at returns the directory of a tree that the plan runs in.
func (p Plan) at(dir string) string { return filepath.Join(dir, filepath.FromSlash(p.Dir)) }
