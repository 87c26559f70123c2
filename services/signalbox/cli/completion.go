package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"${enum}."`
}

// Help returns how the script is used.
func (completionCommand) Help() string {
	return `bash:  source <(signalbox completion bash)
zsh:   source <(signalbox completion zsh)
fish:  signalbox completion fish | source`
}

// Run prints a script. It completes commands, flags, their values, and the names of
// instances, states, roles and lifecycles; all else is left to the shell's completion of
// files.
func (c completionCommand) Run(app *kong.Kong, env *term.Env) error {
	switch c.Shell {
	case "zsh":
		env.Printf("autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n")
		bash(env.Stdout, app.Model.Name)
	case "bash":
		bash(env.Stdout, app.Model.Name)
	case "fish":
		fish(env.Stdout, app.Model.Name, walk(app.Model.Node, ""))
	}
	return nil
}

// offered is a command of the grammar.
type offered struct {
	path  string // its words separated by blanks; empty for the program
	subs  []*kong.Node
	flags []*kong.Flag // with those of the commands above
}

func walk(node *kong.Node, path string) []offered {
	c := offered{path: path}
	for _, group := range node.AllFlags(true) {
		c.flags = append(c.flags, group...)
	}
	var below []offered
	for _, child := range node.Children {
		if child.Hidden || child.Type != kong.CommandNode {
			continue
		}
		c.subs = append(c.subs, child)
		below = append(below, walk(child, strings.TrimSpace(path+" "+child.Name))...)
	}
	return append([]offered{c}, below...)
}

// bash writes a function that asks the program itself, so that it is never out of date.
func bash(w io.Writer, program string) {
	fmt.Fprintf(w, `_%[1]s() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _%[1]s %[1]s
`, program)
}

// fish writes the commands and flags of the grammar with their help, and a function that
// asks the program for all else.
func fish(w io.Writer, program string, commands []offered) {
	fmt.Fprintf(w, `function __%[1]s_values
  set -l word (commandline -ct)
  if string match -qr '^--[^=]+=' -- $word
    set word (string split -m 1 = -- $word)
  end
  %[1]s complete -- (commandline -opc)[2..] $word 2>/dev/null
end
`, program)
	for _, c := range commands {
		when := "__fish_use_subcommand"
		if c.path != "" {
			when = "__fish_seen_subcommand_from " + c.path
			if words := strings.Fields(c.path); len(words) > 1 {
				when = strings.Join([]string{"__fish_seen_subcommand_from " + words[0], "__fish_seen_subcommand_from " + words[1]}, "; and ")
			}
		}
		for _, s := range c.subs {
			fmt.Fprintf(w, "complete -c %s -n %s -a %s -d %s\n", program, quote(when), s.Name, quote(s.Help))
		}
		if len(c.subs) == 0 {
			fmt.Fprintf(w, "complete -c %s -n %s -a '(__%[1]s_values)'\n", program, quote(when))
		}
		for _, f := range c.flags {
			short, value := "", ""
			if f.Short != 0 {
				short = " -s " + string(f.Short)
			}
			if !f.IsBool() {
				value = fmt.Sprintf(" -r -a '(__%s_values)'", program)
			}
			fmt.Fprintf(w, "complete -c %s -n %s -l %s%s%s -d %s\n", program, quote(when), f.Name, short, value, quote(f.Help))
		}
	}
}

// quote quotes a text for fish.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
