// Package sandbox runs a command for a brain or a test: in a process group of
// its own, within limits of time and output, with an environment made from an
// allow list. Where bubblewrap works, the command has no network and may write
// only to the given paths.
package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Mode says how a command is confined.
type Mode string

const (
	// None confines nothing: the command has all rights of this user, writes outside
	// its directory are not noticed, and a process that leaves its session outlives
	// the run.
	None Mode = "none"
	// Bwrap runs the command under bubblewrap: its own process table, no
	// network unless asked for, the system read-only, home and /tmp empty, and
	// only the given directories writable.
	Bwrap Mode = "bwrap"
	// Auto is Bwrap where bubblewrap works and None elsewhere.
	Auto Mode = "auto"
)

// Sandbox runs commands in one mode. The zero Sandbox is mode None.
type Sandbox struct {
	bwrap  string // path of bubblewrap; empty: mode None
	reason string // why Auto became None
}

// New returns a Sandbox. It finds out once whether bubblewrap works. Mode Bwrap is
// an error where it does not.
func New(ctx context.Context, mode Mode) (Sandbox, error) {
	switch mode {
	case None:
		return Sandbox{}, nil
	case Auto, Bwrap:
	default:
		return Sandbox{}, fmt.Errorf("sandbox mode %q: want none, bwrap or auto", mode)
	}
	s, err := probe(ctx)
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() != nil:
		return Sandbox{}, context.Cause(ctx)
	case mode == Auto:
		return Sandbox{reason: err.Error()}, nil
	}
	return Sandbox{}, fmt.Errorf("sandbox mode bwrap: %w", err)
}

func probe(ctx context.Context) (Sandbox, error) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return Sandbox{}, fmt.Errorf("bubblewrap is not installed")
	}
	s := Sandbox{bwrap: path}
	r, err := s.Run(ctx, Command{Argv: []string{"true"}, Dir: os.TempDir(), Env: Environ(), Wall: 10 * time.Second})
	if err == nil && !r.OK() {
		err = fmt.Errorf("%s: %s", r, strings.TrimSpace(string(r.Output)))
	}
	if err != nil {
		return Sandbox{}, fmt.Errorf("bubblewrap does not work here: %w", err)
	}
	return s, nil
}

// Mode returns None or Bwrap.
func (s Sandbox) Mode() Mode {
	if s.bwrap == "" {
		return None
	}
	return Bwrap
}

// Describe returns a line for the log: the mode and, if Auto chose None, the reason.
func (s Sandbox) Describe() string {
	if s.reason == "" {
		return string(s.Mode())
	}
	return string(s.Mode()) + " (" + s.reason + ")"
}
