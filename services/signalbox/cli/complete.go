package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// completeCommand prints what the last word of a command line may become, one a line. The
// scripts of completion call it. It prints nothing where that is for the shell to say.
type completeCommand struct {
	Words []string `arg:"" optional:""`
}

// completePatience is how long a running system may take to name its instances: a person
// waits at the prompt.
const completePatience = 700 * time.Millisecond

// Run prints the words.
func (c completeCommand) Run(ctx context.Context, app *kong.Kong, env *term.Env) error {
	line := parseLine(app.Model.Node, c.Words)
	k := known{ctx: ctx, env: env, line: line}
	for _, word := range slices.Compact(slices.Sorted(slices.Values(line.candidates(k.names)))) {
		if strings.HasPrefix(word, line.word) {
			env.Printf("%s%s\n", line.prefix, term.Line(word))
		}
	}
	return nil
}

// line is a command line up to the word that is completed.
type line struct {
	node   *kong.Node        // the command
	args   []string          // its arguments before the word
	values map[string]string // its flags with values, by name
	flag   *kong.Flag        // whose value the word is; nil: none
	word   string            // what there is of it
	prefix string            // what stands before it in the same word, as in --state=
}

func parseLine(root *kong.Node, words []string) line {
	l := line{node: root, values: map[string]string{}}
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "--" })
	if len(words) == 0 {
		words = []string{""}
	}
	last := len(words) - 1
	for i, word := range words[:last] {
		if word == "=" && i > 0 { // bash splits there
			continue
		}
		l.step(word)
	}
	l.word = strings.TrimPrefix(words[last], "=")
	if l.flag == nil && strings.HasPrefix(l.word, "--") {
		if name, value, found := strings.Cut(l.word, "="); found {
			l.step(name)
			l.word, l.prefix = value, name+"="
		}
	}
	return l
}

// step reads a whole word.
func (l *line) step(word string) {
	switch {
	case l.flag != nil:
		l.values[l.flag.Name], l.flag = word, nil
	case strings.HasPrefix(word, "-"):
		name, value, whole := strings.Cut(strings.TrimLeft(word, "-"), "=")
		for _, f := range l.flags() {
			if f.Name != name && (f.Short == 0 || string(f.Short) != name) {
				continue
			}
			if whole {
				l.values[f.Name] = value
			} else if !f.IsBool() {
				l.flag = f
			}
		}
	default:
		for _, child := range l.node.Children {
			if len(l.args) == 0 && child.Type == kong.CommandNode && child.Name == word {
				l.node = child
				return
			}
		}
		l.args = append(l.args, word)
	}
}

// flags returns the flags of the command, and of those above it.
func (l line) flags() (all []*kong.Flag) {
	for _, group := range l.node.AllFlags(true) {
		all = append(all, group...)
	}
	return all
}

// candidates returns what the word may become. names returns the names of a kind.
func (l line) candidates(names func(kind string) []string) (all []string) {
	if l.flag != nil {
		return valuesOf(l.flag.Value, l.flag.Name, names)
	}
	if strings.HasPrefix(l.word, "-") {
		for _, f := range l.flags() {
			all = append(all, "--"+f.Name)
		}
		return all
	}
	for _, child := range l.node.Children {
		if !child.Hidden && child.Type == kong.CommandNode && len(l.args) == 0 {
			all = append(all, child.Name)
		}
	}
	if places := l.node.Positional; len(places) > 0 {
		place := places[min(len(l.args), len(places)-1)]
		if len(l.args) < len(places) || place.IsCumulative() {
			all = append(all, valuesOf(place, place.Name, names)...)
		}
	}
	return all
}

// valuesOf returns the values of a flag or an argument, by its enum or by its name.
func valuesOf(v *kong.Value, name string, names func(kind string) []string) []string {
	if v.Enum != "" {
		return v.EnumSlice()
	}
	return names(name)
}

// known is what a running or a stopped system, or else the built-in definitions, know.
type known struct {
	ctx  context.Context
	env  *term.Env
	line line
}

// names returns the names that a flag or an argument of this name takes.
func (k known) names(of string) (names []string) {
	switch of {
	case "id":
		_ = k.read(func(ctx context.Context, r reader) error { // without a system there are none
			all, err := r.List(ctx, &pb.ListRequest{All: true})
			for _, s := range all {
				names = append(names, s.GetInstance())
			}
			return err
		})
	case "state", "to":
		for _, d := range k.definitions() {
			names = append(names, d.StateNames()...)
		}
	case "worker", "role":
		for _, d := range k.definitions() {
			names = append(names, d.Roles()...)
		}
	case "workflow", "name-or-file", "a", "b":
		for _, d := range k.definitions() {
			names = append(names, d.Name)
		}
	case "name": // of a signal
		for _, d := range k.definitions() {
			names = append(names, signals(d)...)
		}
	case "command":
		for _, child := range k.line.root().Children {
			if !child.Hidden {
				names = append(names, child.Name)
			}
		}
		names = append(names, "flags")
	}
	return names
}

func (l line) root() *kong.Node {
	n := l.node
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// definitions returns those of the system, or else the built-in ones and those of
// --workflow-dir.
func (k known) definitions() (all []*workflow.Definition) {
	err := k.read(func(ctx context.Context, r reader) (err error) {
		all, err = r.Definitions(ctx)
		return err
	})
	if err == nil {
		return all
	}
	catalog, err := sources{WorkflowDir: k.line.values["workflow-dir"]}.all()
	if err != nil {
		return nil
	}
	return catalog.All()
}

// read calls f with the system that the line names.
func (k known) read(f func(context.Context, reader) error) error {
	if url := k.line.values["nats"]; url != "" {
		k.env.NATS.URL = url
	}
	from := reading{running: running{Timeout: completePatience}}
	if k.line.node.Leaf() && k.reads() {
		from.Data = k.line.values["data"]
	}
	return from.read(k.ctx, k.env, f)
}

// reads reports whether the --data of the command is that of a stopped system.
func (k known) reads() bool {
	return slices.ContainsFunc(k.line.flags(), func(f *kong.Flag) bool { return f.Name == "data" && strings.HasPrefix(f.Help, "Read the log") })
}
