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

// Run prints a script made from the grammar. It completes commands and flags; all else
// is left to the shell's completion of files.
func (c completionCommand) Run(app *kong.Kong, env *term.Env) error {
	commands := walk(app.Model.Node, "")
	switch c.Shell {
	case "zsh":
		env.Printf("autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n")
		bash(env.Stdout, app.Model.Name, commands)
	case "bash":
		bash(env.Stdout, app.Model.Name, commands)
	case "fish":
		fish(env.Stdout, app.Model.Name, commands)
	}
	return nil
}

// command is a command of the grammar.
type command struct {
	path  string // its words separated by blanks; empty for the program
	subs  []*kong.Node
	flags []*kong.Flag // with those of the commands above
}

func walk(node *kong.Node, path string) []command {
	c := command{path: path}
	for _, group := range node.AllFlags(true) {
		c.flags = append(c.flags, group...)
	}
	var below []command
	for _, child := range node.Children {
		if child.Hidden || child.Type != kong.CommandNode {
			continue
		}
		c.subs = append(c.subs, child)
		below = append(below, walk(child, strings.TrimSpace(path+" "+child.Name))...)
	}
	return append([]command{c}, below...)
}

func (c command) words() string {
	var words []string
	for _, s := range c.subs {
		words = append(words, s.Name)
	}
	for _, f := range c.flags {
		words = append(words, "--"+f.Name)
	}
	return strings.Join(words, " ")
}

func bash(w io.Writer, program string, commands []command) {
	fmt.Fprintf(w, `_%[1]s() {
  local cur=${COMP_WORDS[COMP_CWORD]} path= word words i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case "$path $word" in
`, program)
	for _, c := range commands[1:] {
		parent, name := "", c.path
		if i := strings.LastIndexByte(c.path, ' '); i >= 0 {
			parent, name = c.path[:i], c.path[i+1:]
		}
		fmt.Fprintf(w, "    %q) path=%q ;;\n", parent+" "+name, c.path)
	}
	fmt.Fprint(w, "    esac\n  done\n  case $path in\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %q) words=%q ;;\n", c.path, c.words())
	}
	fmt.Fprintf(w, `  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _%[1]s %[1]s
`, program)
}

func fish(w io.Writer, program string, commands []command) {
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
		for _, f := range c.flags {
			short, value := "", ""
			if f.Short != 0 {
				short = " -s " + string(f.Short)
			}
			if !f.IsBool() {
				value = " -r"
			}
			fmt.Fprintf(w, "complete -c %s -n %s -l %s%s%s -d %s\n", program, quote(when), f.Name, short, value, quote(f.Help))
		}
	}
}

// quote quotes a text for fish.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
