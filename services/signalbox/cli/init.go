package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// initCommand is `signalbox init`.
type initCommand struct {
	Repo  string `name:"repo" type:"path" default:"." placeholder:"DIR" help:"The repository, or a directory in it."`
	Print bool   `name:"print" help:"Print the file, and write nothing."`
}

// initialized is the JSON of `init`.
type initialized struct {
	File  string `json:"file"`
	Tests string `json:"tests"` // the command that was found; may be empty
}

// Run writes the file of a repository that says how it is tested. It refuses to replace one.
func (c initCommand) Run(ctx context.Context, env *term.Env) error {
	root, err := allinone.Repository(ctx, c.Repo)
	if err != nil {
		return service.Usagef("%s: %w", c.Repo, err)
	}
	file := filepath.Join(root, testrun.ConfigFile)
	if _, err := os.Lstat(file); err == nil && !c.Print {
		return service.Usagef("%s exists already: edit it, or remove it first; --print shows what init would write without it", file)
	}
	found, err := findTests(root)
	if err != nil {
		return err
	}
	if c.Print {
		env.Printf("%s", term.Text(found.Draft()))
		return nil
	}
	if err := writeNew(file, found.Draft()); err != nil {
		return err
	}
	if env.JSON {
		return env.Print(initialized{File: file, Tests: found.Tests})
	}
	env.Printf("wrote %s\n", term.Line(file))
	switch {
	case found.Hint:
		env.Printf("tests: %s, a command of %s; check it before you commit the file\n", term.Line(found.Tests), term.Line(found.Source))
	case found.Tests == "":
		env.Printf("tests: none were found; name the command that runs them in the file\n")
	default:
		env.Printf("tests: %s; the file changes nothing until you edit it\n", term.Line(found.Tests))
	}
	env.Printf("next: commit it to the default branch\n")
	return nil
}

// writeNew writes a file that must not exist.
func writeNew(file, content string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return service.Usagef("%s exists already", file)
	}
	if err != nil {
		return err
	}
	if _, err := f.WriteString(content); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
