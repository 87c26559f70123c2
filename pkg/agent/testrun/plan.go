// Package testrun finds a repository's tests, runs them on one commit and says
// what came of it. Test evidence is made here and nowhere else: no brain is
// asked whether the tests pass.
package testrun

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// DefaultTimeout is how long a test run may take unless configured.
const DefaultTimeout = 10 * time.Minute

// maxRead is how many bytes of a repository's own file are looked at.
const maxRead = 1 << 20

// ErrNoTests says that no way to test the repository was found.
var ErrNoTests = errors.New("no tests found")

// Plan is how a repository is tested, or checked otherwise.
type Plan struct {
	Check   string        // the name of the evidence; empty: Name
	Tool    string        // go, npm, pnpm, yarn, pytest, unittest, cargo, make or configured
	Source  string        // the file that says so, within the repository
	Argv    []string      // program and arguments, run at the repository's root
	Env     []string      // name=value, on top of what the runner gives
	Timeout time.Duration // above zero
}

// Command is the plan as a person would type it.
func (p Plan) Command() string {
	if p.Tool == "configured" {
		return p.Argv[len(p.Argv)-1]
	}
	return strings.Join(p.Argv, " ")
}

// Detect finds how the tree is tested. The first that applies is taken: the
// configuration file, Go, a package.json, Python, Cargo, make. Without any of
// them the error is ErrNoTests; a configuration that cannot be read is an error
// that names its file and line, never a reason to look further.
//
// The tree decides what is run. Give the FS of an os.Root where the tree may
// hold links that lead out of it.
func Detect(tree fs.FS) (Plan, error) {
	plan, found, err := first(tree, Name, configured, goModule, nodeTest, python, cargo, makeTest)
	if err != nil || found {
		return plan, err
	}
	return Plan{}, fmt.Errorf("%w: looked at the root for %s, go.mod, go.work, a test script in package.json, "+
		"pytest or unittest files, Cargo.toml and a test target in a Makefile; "+
		"to say how this repository is tested, add a file %s with: test: {command: \"…\"}", ErrNoTests, ConfigFile, ConfigFile)
}

// detector finds how a tree is checked in one way.
type detector func(tree fs.FS, check string) (Plan, bool, error)

// first is the plan of the first detector that finds one.
func first(tree fs.FS, check string, detectors ...detector) (Plan, bool, error) {
	for _, detect := range detectors {
		plan, found, err := detect(tree, check)
		if err != nil {
			return Plan{}, false, err
		}
		if found {
			plan.Check = check
			return plan.complete(), true, nil
		}
	}
	return Plan{}, false, nil
}

// complete is the plan with what every plan has.
func (p Plan) complete() Plan {
	p.Env = append(p.Env, "CI=1", "NO_COLOR=1")
	p.Timeout = cmp.Or(p.Timeout, DefaultTimeout)
	return p
}

// goModule knows modules and workspaces. In a workspace ./... covers only the
// root's own module, so each member is named.
func goModule(tree fs.FS, _ string) (Plan, bool, error) {
	return goTool(tree, "test", "-json")
}

func goTool(tree fs.FS, words ...string) (Plan, bool, error) {
	argv := append([]string{"go"}, words...)
	if work := text(tree, "go.work"); work != "" {
		var patterns []string
		for _, dir := range workspace(work) {
			patterns = append(patterns, "./"+path.Join(dir, "..."))
		}
		if len(patterns) > 0 {
			return Plan{Tool: "go", Source: "go.work", Argv: append(argv, patterns...)}, true, nil
		}
	}
	return Plan{Tool: "go", Source: "go.mod", Argv: append(argv, "./...")}, exists(tree, "go.mod"), nil
}

// workspace lists the directories that a go.work file uses and that are inside the repository.
func workspace(work string) (dirs []string) {
	block := false
	for line := range strings.Lines(work) {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			continue
		case fields[0] == ")":
			block = false
			continue
		case fields[0] == "use" && len(fields) == 2 && fields[1] == "(":
			block = true
			continue
		case fields[0] == "use" && len(fields) == 2:
			fields = fields[1:]
		case !block:
			continue
		}
		if dir := path.Clean(strings.Trim(fields[0], "\"`")); fs.ValidPath(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func cargo(tree fs.FS, check string) (Plan, bool, error) {
	plan := Plan{
		Tool: "cargo", Source: "Cargo.toml",
		Argv: []string{"cargo", "test", "--no-fail-fast"}, // all failing tests, not those of the first binary
		Env:  []string{"CARGO_TERM_COLOR=never", "RUST_BACKTRACE=0"},
	}
	if check == TypeCheck {
		plan.Argv = []string{"cargo", "check", "--all-targets"}
	}
	return plan, exists(tree, "Cargo.toml"), nil
}

func makeTest(tree fs.FS, _ string) (Plan, bool, error) { return makefile(tree, "test") }

// makefile knows a Makefile with one of the targets.
func makefile(tree fs.FS, goals ...string) (Plan, bool, error) {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} { // as make looks
		if !exists(tree, name) {
			continue
		}
		for _, goal := range goals {
			for line := range strings.Lines(text(tree, name)) {
				targets, rest, ok := strings.Cut(line, ":")
				if ok && !strings.HasPrefix(rest, "=") && !strings.HasPrefix(line, "\t") && slices.Contains(strings.Fields(targets), goal) {
					return Plan{Tool: "make", Source: name, Argv: []string{"make", goal}}, true, nil
				}
			}
		}
		return Plan{}, false, nil
	}
	return Plan{}, false, nil
}

func exists(tree fs.FS, name string) bool {
	info, err := fs.Stat(tree, name)
	return err == nil && info.Mode().IsRegular()
}

// text is the file's content as far as it is looked at; empty when there is none.
func text(tree fs.FS, name string) string {
	if !exists(tree, name) {
		return ""
	}
	f, err := tree.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return ""
	}
	return string(b)
}
