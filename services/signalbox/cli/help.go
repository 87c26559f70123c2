package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// asHelp turns the calls that people try for help into --help: none at all, "help", "help
// COMMAND" and "help flags". It also returns what prints the help.
func asHelp(args []string) ([]string, kong.HelpPrinter) {
	switch {
	case len(args) == 0:
		return []string{"--help"}, printHelp
	case slices.Equal(args, []string{"help", "flags"}):
		return []string{"--help"}, printFlags
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help"), printHelp
	}
	return args, printHelp
}

// helpCommand stands in the grammar for the list of commands: asHelp replaces its calls.
type helpCommand struct {
	Of []string `arg:"" optional:"" name:"command" help:"The command, or flags."`
}

// printFlags prints the flags that all commands have.
func printFlags(options kong.HelpOptions, ctx *kong.Context) error {
	ctx.Model.Children = nil
	return kong.DefaultHelpPrinter(options, ctx)
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
	if shown := examples()[commandPath(ctx.Selected())]; len(shown) > 0 {
		fmt.Fprintf(ctx.Stdout, "\nExamples:\n  signalbox %s\n", strings.Join(shown, "\n  signalbox "))
	}
	_, err := fmt.Fprintln(ctx.Stdout, "\nsignalbox help flags lists the flags that all commands have: --json, the NATS server, logs.")
	return err
}

// commandPath returns the words of a command, "" for the program itself.
func commandPath(n *kong.Node) string {
	if n == nil || n.Parent == nil {
		return ""
	}
	return strings.TrimSpace(commandPath(n.Parent) + " " + n.Name)
}
