// Package roles is the program of the roles whose services differ by name only. They have
// the same flags and the same runtime (pkg/agent/role). What a role does in a state is said
// by the state's `work` in its lifecycle (pkg/engine/workflow/builtin).
//
// One binary serves all of them, services/agent. It takes its role from the name
// that it is called by, from its first argument, or from SIGNALBOX_ROLE.
package roles

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/pipelinerole"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
	"github.com/signalbox/signalbox/pkg/service"
)

// Role is a role that needs no program of its own.
type Role struct {
	Name     string // as the lifecycles spell it
	About    string // one sentence for --help
	Pipeline bool   // it works on the document of the pipeline lifecycle
}

// All returns the roles, in order of name.
func All() []Role {
	return []Role{
		{"analyst", "Judges reports and asks for what they lack.", true},
		{"build", "Runs tests, lint and type checks for the pipeline.", true},
		{"cto", "Steps in where tasks keep failing.", false},
		{"developer", "Implements and fixes; needs a --brain.", false},
		{"fullstack-developer", "Carries tasks out and checks them.", false},
		{"navigator", "Reviews code, architecture and integration.", false},
		{"quality-monitor", "Verifies the quality of tasks.", false},
		{"reviewer", "Judges the changes of the pipeline.", true},
		{"solution-validator", "Judges how tasks are to be gone about.", false},
		{"tester", "Writes tests; runs and judges those of the repository.", false},
		{"triage", "Says which issues the pipeline takes up.", true},
		{"writer", "Writes the changes of the pipeline.", true},
	}
}

// Main runs the service of a role until it ends, and returns the exit code. It
// exits with 2 if there is no such role.
func Main(name string) int {
	confine.Intercept()
	return run(name, os.Args[1:])
}

// Multicall runs the service of the role that the process was called for, and
// returns the exit code.
func Multicall() int {
	confine.Intercept()
	name, args, err := Called(os.Args, os.Getenv("SIGNALBOX_ROLE"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		return 2
	}
	return run(name, args)
}

// Called returns the role that a process with the arguments argv, program name
// first, was called for, and its own arguments. A name goes before an argument,
// an argument before env.
func Called(argv []string, env string) (name string, args []string, err error) {
	args = argv[min(1, len(argv)):]
	if len(argv) > 0 && known(filepath.Base(argv[0])) {
		return filepath.Base(argv[0]), args, nil
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	} else {
		name = env
	}
	if !known(name) {
		return "", nil, fmt.Errorf("there is no role %q: call it with one of %s, or set SIGNALBOX_ROLE", name, strings.Join(names(), ", "))
	}
	return name, args, nil
}

func run(name string, args []string) int {
	i := slices.IndexFunc(All(), func(r Role) bool { return r.Name == name })
	if i < 0 {
		fmt.Fprintf(os.Stderr, "there is no role %q\n", name)
		return 2
	}
	r := All()[i]
	app := role.NewApp(r.Name)
	if r.Pipeline {
		app = app.With(pipelinerole.Document{})
	}
	return service.Run(context.Background(), service.Main{Name: r.Name, About: r.About, Program: app, Args: args})
}

func known(name string) bool { return slices.Contains(names(), name) }

func names() []string {
	var all []string
	for _, r := range All() {
		all = append(all, r.Name)
	}
	return all
}
