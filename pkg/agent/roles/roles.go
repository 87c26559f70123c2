// Package roles is the program of the roles whose services differ by name only. They have
// the same flags and the same runtime (pkg/agent/role). The work of a role in a state is the
// state's `work` in its lifecycle (pkg/engine/workflow/builtin).
//
// services/signalbox serves all of them by name, and services/ROLE one of them.
package roles

import (
	"context"
	"fmt"
	"os"
	"slices"

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
		{"triage", "Decides which issues the pipeline takes up.", true},
		{"writer", "Writes the changes of the pipeline.", true},
	}
}

// Main runs the service of a role until it ends, and returns the exit code. It
// exits with 2 if there is no such role.
func Main(name string) int {
	confine.Intercept()
	all := Mains()
	i := slices.IndexFunc(all, func(m service.Main) bool { return m.Name == name })
	if i < 0 {
		fmt.Fprintf(os.Stderr, "there is no role %q\n", name)
		return service.ExitUsage
	}
	return service.Run(context.Background(), all[i])
}

// Mains returns the services of all roles, for a program that serves them by name. It
// calls confine.Intercept first.
func Mains() []service.Main {
	var all []service.Main
	for _, r := range All() {
		app := role.NewApp(r.Name)
		if r.Pipeline {
			app = app.With(pipelinerole.Document{})
		}
		all = append(all, service.Main{Name: r.Name, About: r.About, Program: app})
	}
	return all
}
