package testrun

import (
	"io/fs"

	"github.com/signalbox/signalbox/pkg/work"
)

// Names of the evidence of checks beside the tests (pipeline lifecycle, build).
const (
	Lint      = work.Lint
	TypeCheck = work.TypeCheck
)

// Shell is a plan to run a command with sh.
func Shell(command string) Plan { return shell(command).complete() }

func shell(command string) Plan {
	return Plan{Tool: "configured", Argv: []string{"sh", "-c", command}}
}

// DetectCheck finds how the tree is linted or type-checked. The first that
// applies is taken: the configuration file, a script of package.json, a target
// of a Makefile, and what comes with Go or Cargo. Unlike tests, a repository
// need not have it: found is false then.
func DetectCheck(tree fs.FS, check string) (plan Plan, found bool, err error) {
	scripts, targets := []string{"lint"}, []string{"lint"}
	tools := []detector{vet}
	if check == TypeCheck {
		scripts = []string{"type-check", "typecheck", "type_check", "check-types", "check:types", "types"}
		targets = []string{"type-check", "typecheck", "type_check", "check-types"}
		tools = []detector{build, cargo}
	}
	return first(tree, check, append([]detector{
		configured,
		func(tree fs.FS, _ string) (Plan, bool, error) { return nodePackage(tree, scripts...) },
		func(tree fs.FS, _ string) (Plan, bool, error) { return makefile(tree, targets...) },
	}, tools...)...)
}

func vet(tree fs.FS, _ string) (Plan, bool, error) { return goTool(tree, "vet") }

func build(tree fs.FS, _ string) (Plan, bool, error) { return goTool(tree, "build") }
