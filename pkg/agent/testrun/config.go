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
)

// ConfigFile at the root of a repository says how it is tested:
//
//	test: {command: "npm ci && npm test", timeout: 15m}
//
// The command is run by sh at the root. The timeout is a Go duration.
const ConfigFile = ".signalbox.yaml"

type config struct {
	Test *test `yaml:"test"`
}

type test struct {
	Command string  `yaml:"command"`
	Timeout timeout `yaml:"timeout"`
}

// configured reads the configuration file strictly. Its errors name the line
// but never quote it.
func configured(tree fs.FS) (Plan, bool, error) {
	if _, err := fs.Lstat(tree, ConfigFile); errors.Is(err, fs.ErrNotExist) {
		return Plan{}, false, nil
	}
	if !exists(tree, ConfigFile) {
		return Plan{}, false, fmt.Errorf("%s is not a file that can be read", ConfigFile)
	}
	var c config
	err := yaml.NewDecoder(strings.NewReader(text(tree, ConfigFile)), yaml.Strict()).Decode(&c)
	switch {
	case errors.Is(err, io.EOF) || err == nil && c.Test == nil:
		return Plan{}, false, nil
	case err != nil:
		return Plan{}, false, located(err)
	case strings.TrimSpace(c.Test.Command) == "":
		return Plan{}, false, fmt.Errorf("%s: test has no command; write: test: {command: \"…\"}", ConfigFile)
	}
	return Plan{
		Tool: "configured", Source: ConfigFile,
		Argv: []string{"sh", "-c", c.Test.Command}, Timeout: time.Duration(c.Test.Timeout),
	}, true, nil
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

// located puts the file and line before what the parser said.
func located(err error) error {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil {
		return fmt.Errorf("%s: %w", ConfigFile, err)
	}
	what := e.GetMessage()
	switch e.(type) {
	case *yaml.UnknownFieldError:
		what += "; known are test, test.command and test.timeout"
	case *yaml.TypeError, *yaml.UnexpectedNodeTypeError:
		what = "this does not belong here; write: test: {command: \"…\", timeout: 10m}"
	}
	return fmt.Errorf("%s:%d: %s", ConfigFile, e.GetToken().Position.Line, what)
}
