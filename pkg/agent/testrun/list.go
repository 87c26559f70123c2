package testrun

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// List returns the names of the tests that the tree in dir has, sorted, as a verdict.Run
// has them but for subtests. It runs none of them. It is false if the tool cannot list its
// tests, or lists them with an error. Its errors wrap brain.ErrInfrastructure.
func List(ctx context.Context, dir string, plan Plan, runner Runner) ([]string, bool, error) {
	if len(plan.Parts) > 0 {
		return plan.listParts(ctx, dir, runner)
	}
	root := dir
	dir = plan.at(dir)
	argv, read := plan.lister()
	if argv == nil {
		return nil, false, nil
	}
	res, err := runner.Run(ctx, sandbox.Command{
		Argv: argv, Dir: dir, Env: plan.environ(), Bare: plan.bare, Wall: plan.Timeout, MaxOutput: maxOutput,
		Writable: []string{root},
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, false, fmt.Errorf("%w: list the tests of %s: %w", brain.ErrInfrastructure, plan.Command(), err)
	}
	if !res.OK() || res.Dropped > 0 {
		return nil, false, nil
	}
	names := read(clean(string(res.Output), dir))
	slices.Sort(names)
	return slices.Compact(names), len(names) > 0, nil
}

// lister returns the command that lists the plan's tests, and the reader of its output.
func (p Plan) lister() ([]string, func(string) []string) {
	switch p.Runner {
	case "go":
		return append([]string{"go", "test", "-list", "."}, p.Argv[slices.Index(p.Argv, "-json")+1:]...), goListed
	case "pytest":
		return []string{"python3", "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"}, pytestListed
	case "unittest":
		return append([]string{"python3", "-c", unittestLister}, unittestDir(p.Argv)), unittestListed
	case "cargo":
		return append(slices.Clone(p.Argv), "--", "--list", "--format", "terse"), cargoListed
	}
	return nil, nil
}

var (
	goListedTest  = lazyregexp.New(`^(?:Test|Example|Fuzz)[\p{L}\p{N}_]*$`)
	goListedEnd   = lazyregexp.New(`^ok  \t(\S+)`)
	pytestListing = lazyregexp.New(`^[^\s:]+::.+$`)
	cargoListing  = lazyregexp.New(`^(.+): test$`)
)

func goListed(out string) (names []string) {
	var pending []string
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if goListedTest.MatchString(line) {
			pending = append(pending, line)
		} else if m := goListedEnd.FindStringSubmatch(line); m != nil {
			for _, test := range pending {
				names = append(names, m[1]+"."+test)
			}
			pending = nil
		}
	}
	return names
}

func pytestListed(out string) (names []string) {
	for line := range strings.Lines(out) {
		if line = strings.TrimRight(line, "\n"); pytestListing.MatchString(line) {
			names = append(names, line)
		}
	}
	return names
}

// unittestLister prints the ids of all tests that discovery finds below a directory.
const unittestLister = `
import sys, unittest
def walk(s):
    for t in s:
        if isinstance(t, unittest.TestSuite): walk(t)
        else: print("test: " + t.id())
walk(unittest.defaultTestLoader.discover(sys.argv[1]))
`

// unittestDir returns the directory that a unittest plan discovers tests in.
func unittestDir(argv []string) string {
	if i := slices.Index(argv, "-s"); i >= 0 && i+1 < len(argv) {
		return argv[i+1]
	}
	return "."
}

func unittestListed(out string) (names []string) {
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "test: "); ok {
			names = append(names, name)
		}
	}
	return names
}

func cargoListed(out string) (names []string) {
	target := ""
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if m := cargoTarget.FindStringSubmatch(line); m != nil {
			if target = m[1]; target == "" {
				target = "doc " + m[2]
			}
		} else if m := cargoListing.FindStringSubmatch(line); m != nil {
			names = append(names, strings.TrimSpace(target+" "+m[1]))
		}
	}
	return names
}
