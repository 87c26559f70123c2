package service

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"

	"github.com/signalbox/signalbox/pkg/base/yamltext"
)

// config is a file of flag names and values.
type config struct {
	file   string
	values map[string]any
}

// loadConfig reads a YAML file, and so a JSON one.
func loadConfig(r io.Reader) (kong.Resolver, error) {
	c := config{file: "configuration"}
	if f, ok := r.(*os.File); ok {
		c.file = f.Name()
	}
	src, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.file, err)
	}
	if err := yaml.NewDecoder(bytes.NewReader(yamltext.WithoutMark(src))).Decode(&c.values); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", c.file, err)
	}
	return c, nil
}

// Validate returns an error for a name that is not a flag's.
func (c config) Validate(app *kong.Application) error {
	known := map[string]bool{}
	err := kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			known[flag.Name] = true
		}
		return next(nil)
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		if !known[name] {
			return fmt.Errorf("%s: there is no flag %q; flags are %s",
				c.file, name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return nil
}

// Resolve returns the value of a flag that neither the call nor the environment set.
func (c config) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, ok := c.values[flag.Name]
	if !ok || value == nil {
		return nil, nil
	}
	for _, env := range flag.Envs {
		if _, set := os.LookupEnv(env); set {
			return nil, nil // kong asks for these too
		}
	}
	switch value.(type) {
	case []any, map[string]any:
		return value, nil
	}
	return fmt.Sprint(value), nil
}
