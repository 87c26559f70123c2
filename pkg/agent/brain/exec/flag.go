package exec

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// helpWithin is how long a program may take to print its flags.
const helpWithin = 30 * time.Second

// oldProgram returns an error that wraps brain.ErrUnusable if a coding agent ended because it
// does not know a flag: one that its help does not have, and that it names, or it printed
// its help instead of working. Else it returns nil.
func (b *Brain) oldProgram(ctx context.Context, run sandbox.Result, said *answer) error {
	p := b.cfg.Program
	if len(p.Help) == 0 || run.ExitCode == 0 || run.TimedOut != "" || said.spoke || said.began || said.status != 0 {
		return nil
	}
	help := b.says(ctx, p.Help)
	unknown := unknownFlags(p.Argv[1:], help, string(run.Output))
	if len(unknown) == 0 {
		return nil
	}
	has, _, _ := strings.Cut(b.says(ctx, []string{p.Argv[0], "--version"}), "\n")
	text := fmt.Sprintf("%s %s does not know %s", p.Name, has, strings.Join(unknown, ", "))
	if p.Known != "" {
		text += "; version " + p.Known + " is known to work with the preset"
	}
	return fmt.Errorf("%w: %s: install a version that does, or correct the flags of the brain", brain.ErrUnusable, text)
}

// says returns what a command prints, without a network; nothing if it fails.
func (b *Brain) says(ctx context.Context, argv []string) string {
	run, err := b.cfg.Sandbox.Run(ctx, sandbox.Command{Argv: argv, Dir: os.TempDir(), Env: sandbox.Environ(), Wall: helpWithin})
	if err != nil || !run.OK() {
		return ""
	}
	return strings.TrimSpace(string(run.Output))
}

// unknownFlags returns the flags of a command line that are not in a program's help, if the
// program says that they are the cause.
func unknownFlags(args []string, help, said string) []string {
	var unknown, named []string
	known := 0 // a help that has none of them is no help
	for _, arg := range args {
		flag, _, _ := strings.Cut(arg, "=")
		if !flagName.MatchString(flag) || slices.Contains(unknown, flag) {
			continue
		}
		if word(help, flag) {
			known++
			continue
		}
		unknown = append(unknown, flag)
		if word(said, strings.TrimLeft(flag, "-")) {
			named = append(named, flag)
		}
	}
	first, _, _ := strings.Cut(help, "\n")
	if known == 0 {
		return nil
	}
	if len(named) == 0 && strings.Contains(said, first) {
		return unknown
	}
	return named
}

var flagName = lazyregexp.New(`^--?[A-Za-z][A-Za-z0-9-]*$`)

// word reports whether a text has a word that no letter, digit or dash follows.
func word(text, word string) bool {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, word)
		if !found {
			return false
		}
		if after == "" || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", rune(after[0])) {
			return true
		}
		rest = after
	}
}
