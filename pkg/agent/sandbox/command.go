package sandbox

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"
)

// Command is a command with its limits. A limit of zero is none, except for Grace
// and MaxOutput.
type Command struct {
	Argv  []string
	Dir   string   // where it runs; writable
	Env   []string // the whole environment, name=value; see Environ
	Stdin *os.File // nil: empty. A file needs no goroutine that writes to the command

	Wall  time.Duration // how long it may run
	Idle  time.Duration // how long it may print nothing
	Grace time.Duration // from INT to TERM and from TERM to KILL; 0: 5 s

	MaxOutput int          // bytes of output kept; 0: 1 MiB
	Stdout    io.Writer    // gets all of standard output as it comes, besides Output; may be nil
	Line      func(string) // called for every line printed, in order, long ones cut; must return soon; may be nil

	Network  bool     // mode Bwrap: leave the network reachable
	Readable []string // mode Bwrap: more paths to read; those that do not exist are skipped
	Writable []string // mode Bwrap: more paths to write; those that do not exist are skipped
	Limits   Limits
}

// Limits are set with the shell's ulimit before the command starts and hold
// for each of its processes.
type Limits struct {
	CPU      time.Duration // whole seconds
	FileSize int64         // bytes
	Memory   int64         // bytes of address space: too coarse for programs that reserve much of it (node, java, go test -race)
	Files    int           // open files
}

func (c Command) withDefaults() Command {
	c.Grace = cmp.Or(c.Grace, 5*time.Second)
	c.MaxOutput = cmp.Or(c.MaxOutput, 1<<20)
	return c
}

// Limit names a limit of time.
type Limit string

const (
	Wall Limit = "wall" // ran too long
	Idle Limit = "idle" // printed nothing for too long
)

// Result is how a command ended.
type Result struct {
	ExitCode int    // -1: did not exit by itself
	Signal   string // "SIGSEGV" when one ended it; empty under Bwrap, where it shows as exit code 128+n
	TimedOut Limit  // the limit that ended it; empty: none
	Limit    time.Duration
	Output   []byte // standard output and error as they came: the first and the last part, a line between them saying how much is missing
	Dropped  int64  // bytes missing from Output
	Duration time.Duration
	Mode     Mode
}

// OK reports whether the command exited with 0 within its limits.
func (r Result) OK() bool { return r.ExitCode == 0 && r.TimedOut == "" }

// String describes for people how the command ended.
func (r Result) String() string {
	switch {
	case r.TimedOut == Wall:
		return fmt.Sprintf("stopped after %s (wall time limit)", r.Limit)
	case r.TimedOut == Idle:
		return fmt.Sprintf("stopped after printing nothing for %s (idle time limit)", r.Limit)
	case r.Signal != "":
		return "ended by " + r.Signal
	case r.ExitCode > 128 && signalName(r.ExitCode-128) != "":
		// A shell, or bubblewrap, reports the signal of its child so.
		return fmt.Sprintf("exit code %d (%s)", r.ExitCode, signalName(r.ExitCode-128))
	}
	return fmt.Sprintf("exit code %d", r.ExitCode)
}
