package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/signalbox/signalbox/services/signalbox/command"
)

// firstCommands are the commands that the help names first, and firstFlags the flags of
// commands that have too many for a screen. "help all" and "help all COMMAND" list the others.
func firstCommands() []string { return []string{"demo", "resolve", "up", "ls", "explain", "answer"} }

func firstFlags() map[string][]string {
	return map[string][]string{
		"resolve": {"help", "repo", "issue", "answers", "base", "brain", "sandbox", "push", "pr"},
		"up":      {"help", "repo", "data", "brain", "sandbox", "egress"},
	}
}

// asHelp turns the calls that people try for help into --help: none at all, "help", "help
// COMMAND", "help all", "help all COMMAND" and "help flags". It also returns what prints the help.
func asHelp(args []string) ([]string, kong.HelpPrinter) {
	switch {
	case len(args) == 0:
		return []string{"--help"}, printFirst
	case slices.Equal(args, []string{"help", "flags"}):
		return []string{"--help"}, printFlags
	case len(args) > 1 && args[0] == "help" && args[1] == "all":
		return append(slices.Clone(args[2:]), "--help"), printHelp
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help"), printFirst
	}
	return args, printFirst
}

// helpCommand stands in the grammar for the list of commands: asHelp replaces its calls.
type helpCommand struct {
	Of []string `arg:"" optional:"" name:"command" help:"The command, all, or flags."`
}

// printFlags prints the flags that all commands have.
func printFlags(options kong.HelpOptions, ctx *kong.Context) error {
	ctx.Model.Children = nil
	return kong.DefaultHelpPrinter(options, ctx)
}

// printFirst prints the first commands of the program, or the first flags of a command.
func printFirst(options kong.HelpOptions, ctx *kong.Context) error {
	path := command.Path(ctx.Selected())
	more := ""
	if path == "" {
		hide(ctx.Model.Children, firstCommands(), func(n *kong.Node) (string, *bool) { return n.Name, &n.Hidden })
		more = "signalbox help all lists all commands, and signalbox help COMMAND the flags of one."
	} else if first := firstFlags()[path]; len(first) > 0 {
		hide(ctx.Selected().Flags, first, func(f *kong.Flag) (string, *bool) { return f.Name, &f.Hidden })
		more = "signalbox help all " + path + " lists its other flags."
	}
	if err := printHelp(options, ctx); err != nil || more == "" {
		return err
	}
	_, err := fmt.Fprintln(ctx.Stdout, more)
	return err
}

// hide hides what is not among the first.
func hide[T any](all []T, first []string, of func(T) (string, *bool)) {
	for _, one := range all {
		name, hidden := of(one)
		*hidden = *hidden || !slices.Contains(first, name)
	}
}

// printHelp prints the help of a command: its own flags, and examples. The flags that
// all commands have are in "help flags".
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	for _, f := range ctx.Model.Flags {
		f.Hidden = f.Name != "help"
	}
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	if shown := examples()[command.Path(ctx.Selected())]; len(shown) > 0 {
		fmt.Fprintf(ctx.Stdout, "\nExamples:\n  signalbox %s\n", strings.Join(shown, "\n  signalbox "))
	}
	_, err := fmt.Fprintln(ctx.Stdout, "\nsignalbox help flags lists the flags that all commands have: --json, the NATS server, logs.")
	return err
}
