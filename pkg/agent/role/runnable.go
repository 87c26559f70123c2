package role

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// versionWithin is how long a coding agent may take to print its version. One in Node.js
// needs half a minute where the machine is busy.
const versionWithin = 2 * time.Minute

// ErrNoProgram reports that the program of a brain is not installed.
var ErrNoProgram = errors.New("there is no program")

// plainWord is a word that a shell takes as it is.
var plainWord = lazyregexp.New(`^[A-Za-z0-9_./+@%-]+$`)

// runnable returns why the program of a brain cannot be started, before anybody waits
// for it. A coding agent has to print its version, too.
func runnable(command string, p exec.Program, presets []string) error {
	words := strings.Fields(command)
	if !slices.Contains(presets, words[0]) && !strings.HasPrefix(command, "[") {
		if said, err := osexec.Command("sh", "-n", "-c", command).CombinedOutput(); err != nil {
			return fmt.Errorf("the shell cannot read it: %s", oneLine(string(said)))
		}
		if !plainWord.MatchString(words[0]) {
			return nil // the shell's to read
		}
		return found(words[0])
	}
	if err := found(p.Argv[0]); err != nil || !slices.Contains(presets, words[0]) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionWithin)
	defer cancel()
	said, err := osexec.CommandContext(ctx, p.Argv[0], "--version").CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s --version has not ended within %v: is the machine busy, or does it wait for something?", p.Argv[0], versionWithin)
	}
	text, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	return fmt.Errorf("%s --version ended with %w: %q; is it installed whole?", p.Argv[0], err, text)
}

// found returns why there is no such program, or why it may not be started.
func found(program string) error {
	if !strings.Contains(program, "/") {
		if _, err := osexec.LookPath(program); err == nil {
			return nil
		}
		if osexec.Command("sh", "-c", `command -v "$1" >/dev/null`, "sh", program).Run() == nil {
			return nil // what the shell has itself
		}
		return fmt.Errorf("%w %s: it is nowhere in PATH", ErrNoProgram, program)
	}
	switch info, err := os.Stat(program); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w %s", ErrNoProgram, program)
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory: name the program", program)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable: chmod +x %s", program, program)
	}
	return nil
}
