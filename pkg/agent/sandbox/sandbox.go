// Package sandbox runs a command for a brain or a test in a process group of its own. It
// has limits of time, output and resources, and an environment made from an allow list. A
// confined command has no network but a proxy, and may write only to the given paths.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
)

// Mode is how a command is confined.
type Mode string

const (
	// None confines nothing: the command has all rights of this user.
	None Mode = "none"
	// Bwrap runs the command under bubblewrap: its own process table and network,
	// the system read-only, home and /tmp empty, and only the given directories
	// writable.
	Bwrap Mode = "bwrap"
	// Landlock runs the command under rules of the kernel: the same paths, with a
	// home and a temporary directory of its own. It sees the host's processes, and
	// what else Missing says.
	Landlock Mode = "landlock"
	// Auto is Bwrap where bubblewrap works, else Landlock, else an error.
	Auto Mode = "auto"
)

// ErrUnconfined means that a mode does not work here.
var ErrUnconfined = errors.New("nothing here can confine a command")

// Sandbox runs commands in one mode. The zero Sandbox is mode None.
type Sandbox struct {
	mode      Mode
	bwrap     string // path of bubblewrap
	helper    string // path of this program as package confine runs it; empty: there is none
	userns    bool   // mode Bwrap: no more user namespaces inside; mode Landlock: a network of its own
	readOnly  bool   // mode Landlock: mounts of its own, read-only but for what it writes
	hidden    []string
	opt       []string // directories of programs below /opt
	reason    string   // why Auto did not take Bwrap
	onRefused func(refused []string)
}

// New returns a Sandbox. It finds out once what works, and is an ErrUnconfined where
// the mode does not.
func New(ctx context.Context, mode Mode) (Sandbox, error) {
	var helper string
	if runtime.GOOS == "linux" {
		helper, _ = confine.Helper()
	}
	var bwrapErr error
	switch mode {
	case None:
		s := Sandbox{mode: None, helper: helper}
		if s.try(ctx) != nil {
			s.helper = "" // it only ends what a command leaves behind
		}
		return s, nil
	case Auto, Bwrap:
		var s Sandbox
		if s, bwrapErr = probeBwrap(ctx, helper); bwrapErr == nil {
			return s, nil
		}
	case Landlock:
	default:
		return Sandbox{}, fmt.Errorf("sandbox mode %q: want auto, bwrap, landlock or none", mode)
	}
	if ctx.Err() != nil {
		return Sandbox{}, context.Cause(ctx)
	}
	if mode == Bwrap {
		return Sandbox{}, fmt.Errorf("sandbox mode bwrap: %w: %w", ErrUnconfined, bwrapErr)
	}
	s, err := probeLandlock(ctx, helper)
	switch {
	case err == nil:
		if bwrapErr != nil {
			s.reason = bwrapErr.Error()
		}
		return s, nil
	case ctx.Err() != nil:
		return Sandbox{}, context.Cause(ctx)
	case mode == Landlock:
		return Sandbox{}, fmt.Errorf("sandbox mode landlock: %w: %w", ErrUnconfined, err)
	}
	return Sandbox{}, fmt.Errorf("%w: %w, and %w; install bubblewrap, or say --sandbox=none to run brains and tests with all your rights",
		ErrUnconfined, bwrapErr, err)
}

// Hiding returns a Sandbox whose commands do not see these paths, whatever else
// they may read.
func (s Sandbox) Hiding(paths ...string) Sandbox {
	s.hidden = append(s.hidden[:len(s.hidden):len(s.hidden)], paths...)
	return s
}

// OnRefused returns a Sandbox that calls f with the hosts that the proxy refused to connect a
// command to, if there are any. f is called from the goroutine of Run.
func (s Sandbox) OnRefused(f func(refused []string)) Sandbox {
	s.onRefused = f
	return s
}

func probeBwrap(ctx context.Context, helper string) (Sandbox, error) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return Sandbox{}, errors.New("bubblewrap is not installed")
	}
	s := Sandbox{mode: Bwrap, bwrap: path, helper: helper, userns: true, opt: optional(os.Getenv("PATH"))}
	err = s.try(ctx)
	if err != nil && ctx.Err() == nil {
		s.userns = false // an older one, or one that is setuid
		err = s.try(ctx)
	}
	if err != nil {
		return Sandbox{}, fmt.Errorf("bubblewrap does not work here: %w", err)
	}
	return s, nil
}

// probeLandlock finds out whether the kernel has Landlock, and whether it gives
// a process a network of its own.
func probeLandlock(ctx context.Context, helper string) (Sandbox, error) {
	abi := confine.ABI()
	switch {
	case runtime.GOOS != "linux":
		return Sandbox{}, fmt.Errorf("%s has no Landlock", runtime.GOOS)
	case helper == "":
		return Sandbox{}, confine.ErrNoHelper
	case abi < 1:
		return Sandbox{}, errors.New("this kernel has no Landlock")
	}
	s := Sandbox{mode: Landlock, helper: helper, userns: true, readOnly: true, opt: optional(os.Getenv("PATH"))}
	err := s.try(ctx)
	if err != nil && ctx.Err() == nil {
		s.readOnly = false
		err = s.try(ctx)
	}
	if err != nil && ctx.Err() == nil {
		s.userns = false
		err = s.try(ctx)
	}
	if err != nil {
		return Sandbox{}, fmt.Errorf("using Landlock here: %w", err)
	}
	return s, nil
}

func (s Sandbox) try(ctx context.Context) error {
	r, err := s.Run(ctx, Command{Argv: []string{"true"}, Dir: os.TempDir(), Env: Environ(), Wall: 10 * time.Second})
	if err == nil && !r.OK() {
		err = fmt.Errorf("%s: %s", r, strings.TrimSpace(string(r.Output)))
	}
	return err
}

// Mode returns None, Bwrap or Landlock.
func (s Sandbox) Mode() Mode {
	if s.mode == "" {
		return None
	}
	return s.mode
}

// Confines reports whether commands are kept from the rest of this machine.
func (s Sandbox) Confines() bool { return s.Mode() != None }

// Describe returns a line for people: the mode, why not a better one, and what it
// does not confine.
func (s Sandbox) Describe() string {
	var why []string
	if s.reason != "" {
		why = append(why, s.reason)
	}
	if missing := s.Missing(); len(missing) > 0 {
		why = append(why, "not confined: "+strings.Join(missing, ", "))
	}
	if len(why) == 0 {
		return string(s.Mode())
	}
	return string(s.Mode()) + " (" + strings.Join(why, "; ") + ")"
}
