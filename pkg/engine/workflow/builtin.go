package workflow

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed builtin/*.yaml
var builtin embed.FS

// ErrUnknown marks a lifecycle's name that nothing answers to.
var ErrUnknown = errors.New("unknown workflow")

// BuiltinNames lists the lifecycles that come with the program, sorted.
func BuiltinNames() []string {
	entries, _ := builtin.ReadDir("builtin") // embedded: it is there
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	slices.Sort(names)
	return names
}

// Builtin returns the named lifecycle that comes with the program. A name that is
// none of BuiltinNames is ErrUnknown.
func Builtin(name string) (*Definition, error) {
	load, ok := builtinLoads()[name]
	if !ok {
		return nil, unknown(name, BuiltinNames())
	}
	return load()
}

// builtinLoads returns a function for each built-in lifecycle that loads it at the first
// call and returns the same definition at each: to compile its guards takes some 20 ms.
var builtinLoads = sync.OnceValue(func() map[string]func() (*Definition, error) {
	loads := map[string]func() (*Definition, error){}
	base := func(name string) (*Definition, error) {
		if load, ok := loads[name]; ok {
			return load()
		}
		return nil, unknown(name, BuiltinNames())
	}
	for _, name := range BuiltinNames() {
		file := "builtin/" + name + ".yaml"
		loads[name] = sync.OnceValues(func() (*Definition, error) {
			src, err := builtin.ReadFile(file)
			if err != nil {
				return nil, err
			}
			return read(file, src).finish(base)
		})
	}
	return loads
})

// Builtins returns every lifecycle that comes with the program, sorted by name.
func Builtins() ([]*Definition, error) {
	var defs []*Definition
	for _, name := range BuiltinNames() {
		d, err := Builtin(name)
		if err != nil {
			return nil, err
		}
		defs = append(defs, d)
	}
	return defs, nil
}

func unknown(name string, known []string) error {
	if meant := Nearest(name, known); meant != "" {
		return fmt.Errorf("%w %q; did you mean %q?", ErrUnknown, name, meant)
	}
	return fmt.Errorf("%w %q, want one of %s", ErrUnknown, name, strings.Join(known, ", "))
}
