package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/jsonschema-go/jsonschema"
)

// maxArgument limits the characters of an argument.
const maxArgument = 64 << 10

// underscores makes names of tools and arguments of the words of the command line.
var underscores = strings.NewReplacer(" ", "_", "-", "_")

// argument is a flag or a place of a command, as an assistant gives it.
type argument struct {
	name  string
	value *kong.Value
	flag  bool
}

// arguments are what an assistant may say in a call of a command.
type arguments struct {
	verb   verb
	all    []argument // places in their order, then flags
	schema *jsonschema.Schema
	check  *jsonschema.Resolved
	fixed  []string // flags that each call has
}

// argumentsOf returns the arguments of a command, which may take as long as timeout says.
func argumentsOf(v verb, node *kong.Node, timeout time.Duration) (arguments, error) {
	a := arguments{verb: v, fixed: v.flags(), schema: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}}
	for _, p := range node.Positional {
		a.add(argument{name: p.Name, value: p}, p.Required)
	}
	for _, f := range node.Flags {
		if f.Name == "timeout" {
			a.fixed = append(a.fixed, "--timeout="+timeout.String())
		}
		if offered(f) && "--"+f.Name != v.fixed {
			a.add(argument{name: f.Name, value: f.Value, flag: true}, f.Required)
		}
	}
	if v.stdin != "" {
		a.schema.Properties[v.stdin] = text("In Markdown; the first heading is the title.")
	}
	var err error
	a.check, err = a.schema.Resolve(nil)
	return a, err
}

// offered reports whether an assistant may give a flag: none that names files of this
// machine, or how long the command may take.
func offered(f *kong.Flag) bool {
	local := f.PlaceHolder == "FILE" || f.PlaceHolder == "DIR" || strings.HasPrefix(f.Tag.Type, "existing") || f.Tag.Type == "path"
	return !local && !f.Hidden && f.Name != "timeout" && f.Name != "follow" && f.Name != "help"
}

// add adds an argument to the schema. An argument for a lifecycle's file or its name is the
// name; pairs of keys and values are an object.
func (a *arguments) add(arg argument, required bool) {
	s := schemaOf(arg)
	switch arg.name {
	case "name-or-file":
		arg.name, s = "name", text("Name of a lifecycle.")
	case "key=value":
		arg.name, s = "data", &jsonschema.Schema{Type: "object", AdditionalProperties: text(""), Description: arg.value.Help}
	}
	arg.name = underscores.Replace(arg.name)
	a.all = append(a.all, arg)
	a.schema.Properties[arg.name] = s
	if required {
		a.schema.Required = append(a.schema.Required, arg.name)
	}
}

// schemaOf returns the schema of an argument. Several words in places are one text.
func schemaOf(arg argument) *jsonschema.Schema {
	v := arg.value
	s := text(v.Help)
	switch {
	case v.IsBool():
		s = &jsonschema.Schema{Type: "boolean", Description: v.Help}
	case arg.flag && v.IsSlice():
		s = &jsonschema.Schema{Type: "array", Items: text(""), Description: v.Help}
	case v.Target.Type() == reflect.TypeFor[time.Duration]():
	case v.Target.CanInt():
		s = &jsonschema.Schema{Type: "integer", Description: v.Help}
	}
	if v.Enum != "" {
		for _, e := range v.EnumSlice() {
			s.Enum = append(s.Enum, e)
		}
	}
	return s
}

func text(about string) *jsonschema.Schema {
	most := maxArgument
	return &jsonschema.Schema{Type: "string", MaxLength: &most, Description: about}
}

// errArguments means that a call does not fit the schema of its tool.
var errArguments = errors.New("the arguments do not fit the tool")

// line returns the command line of a call, and its standard input. No value in it can be
// taken for a flag.
func (a arguments) line(given json.RawMessage) (args []string, stdin string, err error) {
	values := map[string]any{}
	if len(given) > 0 {
		if err := json.Unmarshal(given, &values); err != nil {
			return nil, "", fmt.Errorf("%w: %w", errArguments, err)
		}
	}
	if err := a.check.Validate(values); err != nil {
		return nil, "", fmt.Errorf("%w: %w", errArguments, err)
	}
	args = append(strings.Fields(a.verb.command), a.fixed...)
	if a.verb.stdin != "" && values[a.verb.stdin] != nil {
		stdin = values[a.verb.stdin].(string)
		args = append(args, "--file=-")
	}
	places := []string{"--"}
	for _, arg := range a.all {
		value, ok := values[arg.name]
		switch {
		case ok && arg.flag:
			args = append(args, flags(arg.value.Name, value)...)
		case ok:
			places = append(places, words(value)...)
		}
	}
	return append(args, places...), stdin, nil
}

// flags returns a flag with its value, for each of several.
func flags(name string, value any) (all []string) {
	if several, ok := value.([]any); ok {
		for _, one := range several {
			all = append(all, flags(name, one)...)
		}
		return all
	}
	return []string{fmt.Sprintf("--%s=%v", name, word(value))}
}

// words returns what stands in a place.
func words(value any) (all []string) {
	pairs, ok := value.(map[string]any)
	if !ok {
		return []string{word(value)}
	}
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		all = append(all, key+"="+word(pairs[key]))
	}
	return all
}

// word formats a value. Numbers are whole: the schemas say so.
func word(value any) string {
	if number, ok := value.(float64); ok {
		return fmt.Sprintf("%.0f", number)
	}
	return fmt.Sprint(value)
}
