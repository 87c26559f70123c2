package testrun

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/signalbox/signalbox/pkg/yamltext"
)

// ConfigFile is at the root of a repository and has its commands for tests and checks.
// setup makes a work tree ready for them:
//
//	setup: {command: "npm ci", timeout: 10m}
//	test: {command: "npm test", timeout: 15m}
//	lint: {command: "npm run lint"}
//	type_check: {command: "npx tsc --noEmit"}
//
// The commands are run by sh at the root. The timeout is a Go duration.
const ConfigFile = ".signalbox.yaml"

type config struct {
	Setup     *command `yaml:"setup"`
	Test      *command `yaml:"test"`
	Lint      *command `yaml:"lint"`
	TypeCheck *command `yaml:"type_check"`
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
	plan := shell(says.Command)
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
		what += "; known are setup, test, lint and type_check, each with command and timeout"
	case *yaml.TypeError, *yaml.UnexpectedNodeTypeError:
		what = "this does not belong here; write: test: {command: \"…\", timeout: 10m}"
	}
	return fmt.Errorf("%s:%d: %s", ConfigFile, e.GetToken().Position.Line, what)
}
