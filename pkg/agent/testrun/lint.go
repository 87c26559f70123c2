package testrun

import (
	"io/fs"

	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Names of the evidence of other checks than tests (pipeline lifecycle, build).
const (
	Lint      = work.Lint
	TypeCheck = work.TypeCheck
)

// Shell returns a plan that runs a command with sh.
func Shell(command string) Plan { return shell(command).complete() }

func shell(command string) Plan {
	return Plan{Tool: "configured", Argv: []string{"sh", "-c", command}}
}

// DetectCheck returns the plan to lint or type-check the tree. It takes the first of
// the configuration file, a script of package.json, a target of a Makefile, and the
// tools of Go or Cargo. found is false if there is none, which is no error.
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
