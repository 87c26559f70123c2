package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

// toolCommand is a program that measures the product and is no part of it.
type toolCommand struct {
	Args []string `arg:"" optional:"" help:"Of the program."`
}

type (
	benchCommand toolCommand
	evalCommand  toolCommand
)

// Run runs signalbox-bench in place of this process.
func (c benchCommand) Run(env *term.Env) error { return become(env, "bench", c.Args) }

// Run runs signalbox-eval in place of this process.
func (c evalCommand) Run(env *term.Env) error { return become(env, "eval", c.Args) }

// become replaces this process by the program signalbox-NAME that stands next to it, or in PATH. It
// returns only if it cannot.
func become(env *term.Env, name string, args []string) error {
	program := "signalbox-" + name
	self, err := os.Executable()
	if err != nil {
		return err
	}
	path, err := exec.LookPath(filepath.Join(filepath.Dir(self), program))
	if err != nil {
		path, err = exec.LookPath(program)
	}
	if err != nil {
		return fmt.Errorf("%s is a program of its own, and is not installed: go install github.com/signalbox/signalbox/services/signalbox/%s/%s@latest, or `make tools` in a clone",
			program, name, program)
	}
	if env.JSON {
		args = append([]string{"--json"}, args...)
	}
	return syscall.Exec(path, append([]string{path}, args...), os.Environ())
}
