// Package cli is the command line. Each command is in the file of its name.
package cli

import (
	"context"

	"github.com/alecthomas/kong"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/command"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

const purpose = "Takes issues from report to pull request, one state and one agent at a time."

// Run runs one command line. Without one it prints what Signalbox would do in the repository of the
// working directory, or help outside a repository. It returns the exit code, one of those of
// package service.
func Run(ctx context.Context, env term.Env, args []string) int {
	if len(args) == 0 && inRepository(ctx) {
		args = []string{"look"}
	}
	args, help := asHelp(args)
	return command.Run(ctx, env, service.Call{Name: "signalbox", About: purpose, Args: args}, new(grammar), groups(), kong.Help(help))
}

func groups() kong.Option {
	return kong.ExplicitGroups([]kong.Group{
		{Key: "Here", Title: "Run it here:"},
		{Key: "Running", Title: "A running system:"},
		{Key: "The log", Title: "The log as evidence:"},
		{Key: "Lifecycles", Title: "Lifecycles:"},
		{Key: "This program", Title: "This program:"},
	})
}
