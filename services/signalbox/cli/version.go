package cli

import (
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

type versionCommand struct{}

// Run prints the version of the binary.
func (versionCommand) Run(env *term.Env) error {
	build := service.ReadBuild()
	if env.JSON {
		return env.Print(build)
	}
	env.Printf("signalbox %s\n", build)
	return nil
}
