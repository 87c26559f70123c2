// Package testrun detects a repository's tests, runs them on one commit and returns
// evidence. Only this package makes test evidence: no brain decides whether the
// tests pass.
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

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// DefaultTimeout limits a test run without a configured timeout.
const DefaultTimeout = 10 * time.Minute

// maxRead limits the bytes read of a file of the repository.
const maxRead = 1 << 20

// ErrNoTests reports that no way to test the repository was found.
var ErrNoTests = errors.New("no tests found")

// Plan is a command that tests or checks a repository.
type Plan struct {
	Check   string        // the name of the evidence; empty: Name
	Tool    string        // go, npm, pnpm, yarn, pytest, unittest, cargo, rake, prove, cmake, make or configured
	Source  string        // the file it was detected by, in the repository
	Argv    []string      // program and arguments, run at the repository's root
	Env     []string      // name=value, in addition to those of the runner: the repository's own, and those that the command needs
	Timeout time.Duration // above zero
	Runner  string        // the program that runs the tests: go, pytest, jest, …; empty: unknown
	Report  string        // pattern of the JUnit XML files that the run leaves, relative to the root; empty: none
	Dir     string        // where Argv runs, relative to the root; empty: at the root
	Parts   []Plan        // plans that run one after the other in place of Argv; nil: this is one
	Label   string        // of a part, before the names of its tests; empty: its directory or tool
	script  string        // the script of package.json that Argv runs, at the end of others
	nested  int           // npm that a script runs within npm, down to script
	custom  []string      // name=value: what Signalbox sets for convenience
	bare    bool          // without custom, and without what the sandbox sets but need not
}

// Command returns the plan as a person would type it.
func (p Plan) Command() string {
	command := strings.Join(p.Argv, " ")
	if p.Tool == "configured" || p.Tool == "cmake" {
		command = p.Argv[len(p.Argv)-1]
	}
	if p.Dir != "" {
		command = "(cd " + p.Dir + "; " + command + ")"
	}
	for i, part := range p.Parts {
		if i > 0 {
			command += " && "
		}
		command += part.Command()
	}
	return command
}

// Detect returns the plan to test the tree: that of the configuration file, else those of Go,
// package.json, Python, Cargo, Maven, Rake and Perl at the root, or of CMake or make if there is no other, else
// those of the directories below. Without any of them the error is ErrNoTests. An invalid
// configuration is an error with its file and line.
//
// The tree decides which command runs. Give the FS of an os.Root if the tree may
// have links that lead out of it.
func Detect(tree fs.FS) (Plan, error) {
	plan, found, err := first(tree, Name, configured)
	if err != nil || found {
		return plan, err
	}
	parts, err := ofRoot(tree, Name)
	if err == nil && len(parts) == 0 {
		parts, err = below(tree, Name)
	}
	if err != nil {
		return Plan{}, err
	}
	if len(parts) > 0 {
		return together(parts), nil
	}
	command, file := hint(tree, runsTests.MatchString)
	if file == "" {
		command = "…"
	} else {
		file = ", which is a command of " + file
	}
	return Plan{}, fmt.Errorf("%w: looked at the root for %s, go.mod, go.work, a test script in package.json, "+
		"pytest or unittest files, Cargo.toml, pom.xml, a Rakefile, t/*.t, a CMakeLists.txt with tests and a test target in a Makefile, and in the directories below; "+
		"to say how this repository is tested, add a file %s with: test: {command: \"%s\"}%s", ErrNoTests, ConfigFile, ConfigFile, command, file)
}

// detector detects one kind of plan.
type detector func(tree fs.FS, check string) (Plan, bool, error)

// first returns the plan of the first detector that has one.
func first(tree fs.FS, check string, detectors ...detector) (Plan, bool, error) {
	for _, detect := range detectors {
		plan, found, err := detect(tree, check)
		if err != nil {
			return Plan{}, false, err
		}
		if found {
			plan.Check = check
			if plan.Tool != "configured" {
				settings, err := settingsOf(tree)
				if err != nil {
					return Plan{}, false, err
				}
				plan.Env = append(plan.Env, settings.Env...)
			}
			return plan.complete(), true, nil
		}
	}
	return Plan{}, false, nil
}

// complete returns the plan with the defaults of all plans. Programs that watch files stop
// doing so where CI is set.
func (p Plan) complete() Plan {
	p.custom = append([]string{"CI=1"}, p.custom...)
	p.Timeout = cmp.Or(p.Timeout, DefaultTimeout)
	return p
}

// Bare returns the plan without the variables that Signalbox sets by its own choice. Tests
// may be red because of one: a program that reads CI, the locale or the directory of caches.
func (p Plan) Bare() Plan {
	p.bare = true
	return p
}

// IsBare reports whether the plan runs without those variables.
func (p Plan) IsBare() bool { return p.bare }

// environ returns the environment of the plan's command. A second run in the same tree is a
// run: the go command, whatever calls it, repeats no result of the first one.
func (p Plan) environ() []string {
	env := slices.Concat(sandbox.Environ(), p.custom, p.Env)
	if p.bare {
		env = slices.DeleteFunc(sandbox.Environ(), func(v string) bool {
			return strings.HasPrefix(v, "LANG=") || strings.HasPrefix(v, "LANGUAGE=") || strings.HasPrefix(v, "LC_")
		})
		env = slices.Concat(env, []string{"LANG=C.UTF-8"}, p.Env)
	}
	flags := "-count=1"
	for _, v := range env {
		if given, ok := strings.CutPrefix(v, "GOFLAGS="); ok {
			flags = strings.TrimSpace(given + " -count=1")
		}
	}
	return append(env, "GOFLAGS="+flags)
}

// goModule detects modules and workspaces. In a workspace ./... covers only the root
// module, so the plan names each member.
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
			return Plan{Tool: "go", Runner: goRunner(words), Source: "go.work", Argv: append(argv, patterns...)}, true, nil
		}
	}
	return Plan{Tool: "go", Runner: goRunner(words), Source: "go.mod", Argv: append(argv, "./...")}, exists(tree, "go.mod"), nil
}

// goRunner returns go if the words make the go command run tests.
func goRunner(words []string) string {
	if words[0] == "test" {
		return "go"
	}
	return ""
}

// workspace returns the directories inside the repository that a go.work file uses.
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
		Tool: "cargo", Runner: "cargo", Source: "Cargo.toml",
		Argv: []string{"cargo", "test", "--no-fail-fast"}, // all failing tests, not those of the first binary
	}
	if check == TypeCheck {
		plan.Runner, plan.Argv = "", []string{"cargo", "check", "--all-targets"}
	}
	return plan, exists(tree, "Cargo.toml"), nil
}

func makeTest(tree fs.FS, _ string) (Plan, bool, error) { return makefile(tree, "test") }

// makefile detects a Makefile with one of the targets.
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

// text returns the first maxRead bytes of a file, or "" if there is none.
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
