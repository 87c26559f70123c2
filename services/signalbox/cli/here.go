package cli

import (
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// hereCommand is `signalbox` without arguments in a git repository.
type hereCommand struct{}

// here is the JSON of the view of a repository.
type here struct {
	Repository string   `json:"repository"` // its root
	Tests      string   `json:"tests"`      // the command; empty: none found
	Setup      string   `json:"setup"`      // the command that installs the dependencies; may be empty
	Agents     []string `json:"agents"`     // presets of coding agents whose program is in PATH
	Sandbox    string   `json:"sandbox"`    // its description; empty: none
	Blocks     []string `json:"blocks"`     // reasons why resolve would stop, each with a remedy
	Next       string   `json:"next"`       // the command to try

	testsBy, setupBy string // the files by which they were found
}

// inRepository reports whether the working directory is in a git repository.
func inRepository(ctx context.Context) bool {
	_, err := allinone.Repository(ctx, ".")
	return err == nil
}

// Run prints what Signalbox would do in the repository, and the command to try.
func (hereCommand) Run(ctx context.Context, env *term.Env) error {
	found, err := lookHere(ctx)
	if err != nil {
		return err
	}
	if env.JSON {
		return env.Print(found)
	}
	row := func(name, value, by, none string) {
		switch {
		case value == "":
			value = env.Paint(term.Wait, none)
		case by != "":
			value = term.Line(value) + env.Paint(term.Faint, " (by "+term.Line(by)+")")
		default:
			value = term.Line(value)
		}
		env.Printf("  %-14s %s\n", name, value)
	}
	env.Printf("In %s Signalbox would use:\n\n", term.Line(found.Repository))
	row("tests", found.Tests, found.testsBy, "none found")
	row("dependencies", found.Setup, found.setupBy, "no file names them")
	row("coding agent", strings.Join(found.Agents, ", "), "", "none in PATH; any program will do: --brain developer=exec:COMMAND")
	row("sandbox", found.Sandbox, "", "none")
	for _, reason := range found.Blocks {
		env.Printf("\n%s\n", term.Wrap(env.Paint(term.Bad, "First: ")+term.Line(reason), max(env.Width, 80)))
	}
	env.Printf("\nTry:  %s\n\n", term.Line(found.Next))
	env.Printf("signalbox init writes a %s to adjust this. signalbox doctor checks more. signalbox help lists the commands.\n", testrun.ConfigFile)
	return nil
}

// lookHere looks at the repository of the working directory, and at this machine.
func lookHere(ctx context.Context) (here, error) {
	root, err := allinone.Repository(ctx, ".")
	if err != nil {
		return here{}, err
	}
	found := here{Repository: root, Agents: []string{}, Blocks: []string{}}
	tests, err := findTests(root)
	switch {
	case err != nil:
		found.Blocks = append(found.Blocks, err.Error())
	case tests.Hint:
		found.Blocks = append(found.Blocks, "no tests were found, but "+tests.Source+" runs: "+tests.Tests+". signalbox init writes that into "+testrun.ConfigFile+".")
	case tests.Tests == "":
		found.Blocks = append(found.Blocks, "no tests were found. signalbox init writes a "+testrun.ConfigFile+"; name the command that runs them there.")
	default:
		found.Tests, found.testsBy = tests.Tests, tests.Source
		for _, program := range tests.Programs {
			if _, err := osexec.LookPath(program); err != nil {
				found.Blocks = append(found.Blocks, "the tests start "+program+", which is not in PATH: install it where the agents run.")
			}
		}
	}
	if module := missingModule(ctx, root, found.Tests); module != "" {
		found.Blocks = append(found.Blocks, "python3 here has no "+module+", which runs the tests. If the dependencies do not bring it: python3 -m pip install "+module)
	}
	found.Setup, found.setupBy = tests.Install, tests.InstallBy
	presets, err := exec.ReadPresets("")
	if err != nil {
		return here{}, err
	}
	for _, name := range presets.Names() {
		p, _ := presets.Find(name)
		if _, err := osexec.LookPath(p.Program); err == nil {
			found.Agents = append(found.Agents, name)
		}
	}
	if box, err := sandbox.New(ctx, sandbox.Auto); err != nil {
		found.Blocks = append(found.Blocks, err.Error())
	} else if box.Confines() {
		found.Sandbox = box.Describe()
	}
	found.Next = nextHere(found)
	return found, nil
}

// missingModule returns the module of Python that runs the tests, if this machine's Python does not have it.
func missingModule(ctx context.Context, root, tests string) string {
	words := strings.Fields(tests)
	if len(words) < 3 || words[0] != "python3" || words[1] != "-m" || strings.ContainsFunc(words[2], func(r rune) bool { return r != '_' && !unicode.IsLetter(r) }) {
		return ""
	}
	find := osexec.CommandContext(ctx, "python3", "-I", "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)", words[2])
	find.Dir = root
	if exit := new(osexec.ExitError); errors.As(find.Run(), &exit) {
		return words[2]
	}
	return ""
}

// nextHere returns the command to try.
func nextHere(found here) string {
	brain := "COMMAND"
	if len(found.Agents) > 0 {
		brain = found.Agents[0]
	}
	call := "signalbox resolve --repo . --issue issue.md --brain developer=exec:" + brain
	if len(found.Agents) > 0 {
		call += " --brain tester.creating_tests=exec:" + brain
	}
	return call
}

// findTests looks for the tests of the repository. Links do not lead out of it.
func findTests(root string) (testrun.Found, error) {
	dir, err := os.OpenRoot(filepath.Clean(root))
	if err != nil {
		return testrun.Found{}, err
	}
	defer dir.Close()
	return testrun.Find(dir.FS())
}
