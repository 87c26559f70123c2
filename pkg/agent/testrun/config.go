package testrun

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/yamltext"
)

// ConfigFile is at the root of a repository and has its commands for tests and checks.
// setup makes a work tree ready for them:
//
//	setup: {command: "npm ci", timeout: 10m}
//	test: {command: "npm test", timeout: 15m}
//	lint: {command: "npm run lint"}
//	type_check: {command: "npx tsc --noEmit"}
//	demo: {command: "bin/server", port: 8080, page: /login, timeout: 30s}
//	env: {TZ: UTC}
//	judges: ["check/**"]
//	product: ["spec/**"]
//
// The commands are run by sh at the root. The timeout is a Go duration. env has variables of
// all these commands. The globs of judges name files that decide whether a change is right;
// those of product name files that such files test, whatever their names suggest.
const ConfigFile = ".signalbox.yaml"

type config struct {
	Setup     *command          `yaml:"setup"`
	Test      *command          `yaml:"test"`
	Lint      *command          `yaml:"lint"`
	TypeCheck *command          `yaml:"type_check"`
	Demo      *demonstration    `yaml:"demo"`
	Env       map[string]string `yaml:"env"`
	Judges    []string          `yaml:"judges"`
	Product   []string          `yaml:"product"`
}

// Settings are what a ConfigFile says in addition to its commands.
type Settings struct {
	Env     []string // name=value, sorted
	Judges  []string // globs of files that judge changes; see Match
	Product []string // globs of files that are judged
}

// ReadSettings reads the content of a ConfigFile. An error names the line.
func ReadSettings(content []byte) (Settings, error) {
	var c config
	if err := yamltext.Unmarshal(content, &c, yaml.Strict()); err != nil && !errors.Is(err, io.EOF) {
		return Settings{}, located(err)
	}
	return c.settings()
}

// settingsOf reads the settings of a tree, which need not have a ConfigFile.
func settingsOf(tree fs.FS) (Settings, error) {
	return ReadSettings([]byte(text(tree, ConfigFile)))
}

// variable matches the name of an environment variable.
var variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c config) settings() (Settings, error) {
	s := Settings{Judges: c.Judges, Product: c.Product}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		if !variable.MatchString(name) {
			return Settings{}, fmt.Errorf("%s: env has the name %q; a name has letters, digits and underscores", ConfigFile, name)
		}
		s.Env = append(s.Env, name+"="+c.Env[name])
	}
	for key, globs := range map[string][]string{"judges": c.Judges, "product": c.Product} {
		for _, glob := range globs {
			if _, err := path.Match(glob, ""); err != nil || glob == "" || !fs.ValidPath(strings.TrimSuffix(glob, "/")) {
				return Settings{}, fmt.Errorf("%s: %s has the glob %q; write one such as \"spec/**\", relative to the root", ConfigFile, key, glob)
			}
		}
	}
	if c.Demo != nil {
		return s, c.Demo.check()
	}
	return s, nil
}

// Match reports whether one of the globs matches the path of a file. A glob is one of
// path.Match, where ** stands for any number of directories. A glob that names a directory
// matches all files below it.
func Match(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		return matches(strings.Split(strings.TrimSuffix(glob, "/"), "/"), strings.Split(name, "/"))
	})
}

func matches(glob, name []string) bool {
	switch {
	case len(glob) == 0:
		return true // the rest lies below
	case glob[0] == "**":
		return len(glob) == 1 || matches(glob[1:], name) || len(name) > 0 && matches(glob, name[1:])
	case len(name) == 0:
		return false
	}
	ok, _ := path.Match(glob[0], name[0]) // it is well formed
	return ok && matches(glob[1:], name[1:])
}

type command struct {
	Command string  `yaml:"command"`
	Timeout timeout `yaml:"timeout"`
}

// of returns the key and the command of a check.
func (c config) of(check string) (string, *command) {
	switch check {
	case Lint:
		return "lint", c.Lint
	case TypeCheck:
		return "type_check", c.TypeCheck
	}
	return "test", c.Test
}

// configured returns the plan of the configuration file. It refuses unknown keys.
// Its errors name the line but never quote it.
func configured(tree fs.FS, check string) (Plan, bool, error) {
	if _, err := fs.Lstat(tree, ConfigFile); errors.Is(err, fs.ErrNotExist) {
		return Plan{}, false, nil
	}
	if !exists(tree, ConfigFile) {
		return Plan{}, false, fmt.Errorf("%s is not a file that can be read", ConfigFile)
	}
	return parseConfig([]byte(text(tree, ConfigFile)), func(c config) (string, *command) { return c.of(check) })
}

// Setup returns the plan that makes a work tree ready, of the content of a ConfigFile.
// found is false if it has none, and if it cannot be read: Detect says that.
func Setup(content []byte) (plan Plan, found bool, err error) {
	if yamltext.Unmarshal(content, new(config), yaml.Strict()) != nil {
		return Plan{}, false, nil
	}
	plan, found, err = parseConfig(content, func(c config) (string, *command) { return "setup", c.Setup })
	return plan.complete(), found, err
}

// parseConfig returns the plan of one of the commands.
func parseConfig(content []byte, of func(config) (string, *command)) (Plan, bool, error) {
	var c config
	err := yamltext.Unmarshal(content, &c, yaml.Strict())
	key, says := of(c)
	switch {
	case errors.Is(err, io.EOF) || err == nil && says == nil:
		return Plan{}, false, nil
	case err != nil:
		return Plan{}, false, located(err)
	case strings.TrimSpace(says.Command) == "":
		return Plan{}, false, fmt.Errorf("%s: %s has no command; write: %s: {command: \"…\"}", ConfigFile, key, key)
	}
	settings, err := c.settings()
	if err != nil {
		return Plan{}, false, err
	}
	plan := shell(says.Command)
	plan.Env = settings.Env
	plan.Source, plan.Timeout = ConfigFile, time.Duration(says.Timeout)
	return plan, true, nil
}

type timeout time.Duration

// UnmarshalYAML reads a Go duration above zero.
func (t *timeout) UnmarshalYAML(n ast.Node) error {
	d, err := time.ParseDuration(n.GetToken().Value)
	if err != nil || d <= 0 {
		return &yaml.SyntaxError{Message: "timeout is not a duration above zero; write one such as 90s or 10m", Token: n.GetToken()}
	}
	*t = timeout(d)
	return nil
}

// located puts the file and the line before the parser's message.
func located(err error) error {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil {
		return fmt.Errorf("%s: %w", ConfigFile, err)
	}
	what := e.GetMessage()
	switch e.(type) {
	case *yaml.UnknownFieldError:
		what += "; known are setup, test, lint, type_check and demo, each with command and timeout, demo with port and page, too, and env, judges and product"
	case *yaml.TypeError, *yaml.UnexpectedNodeTypeError:
		what = "this does not belong here; write: test: {command: \"…\", timeout: 10m}"
	}
	return fmt.Errorf("%s:%d: %s", ConfigFile, e.GetToken().Position.Line, what)
}
