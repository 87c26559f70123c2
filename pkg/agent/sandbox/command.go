package sandbox

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
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
	Stdout    io.Writer    // gets all of standard output as it comes, in addition to Output; may be nil
	Stderr    io.Writer    // the same of standard error; never written to at the same time as Stdout
	Line      func(string) // called for every line printed, in order, long ones cut; must return soon; may be nil

	// The rest is for a confined command only.
	Egress   egress.List // hosts that it can reach; empty: it has no network
	Readable []string    // more paths to read; those that do not exist are skipped
	Writable []string    // more paths to write; those that do not exist are skipped
	Mounts   []Mount     // directories that it reads elsewhere; mode Bwrap only
	Login    []string    // files below HOME that it gets a copy of, thrown away after it
	Bare     bool        // without the variables of caches that the tools do without
	Cache    string      // directory of the caches of its tools; empty: thrown away after it

	GoModules  []string // download caches of Go modules to read, before the user's own
	GoBuild    []string // build caches of Go to read, in addition to the user's own
	CargoHome  string   // home of cargo, with the packages that it has fetched; empty: one in Cache
	GradleHome string   // directory that the home of Gradle, thrown away after the command, is a copy of; empty: one in Cache

	Limits Limits

	needed []string // paths to read that follow from Argv and Env
}

// Mount is a directory that a command sees at another path and cannot change, but for the
// directories Private in it: each run has its own, empty.
type Mount struct {
	From, At string
	Private  []string
}

// Limits are of resources. Of zero, there is none.
type Limits struct {
	CPU       time.Duration // of each process; whole seconds
	FileSize  int64         // of each file, in bytes
	Files     int           // open ones of each process
	Memory    int64         // of all processes together, in bytes
	Processes int           // at a time
	Disk      int64         // in all that it may write to, in bytes
}

func (c Command) withDefaults() Command {
	c.Grace = cmp.Or(c.Grace, 5*time.Second)
	c.MaxOutput = cmp.Or(c.MaxOutput, 1<<20)
	return c
}

// Limit names a limit that ends a command.
type Limit string

const (
	Wall      Limit = "wall"      // ran too long
	Idle      Limit = "idle"      // printed nothing for too long
	Memory    Limit = "memory"    // used too much
	Processes Limit = "processes" // started too many
	Disk      Limit = "disk"      // wrote too much
)

// Result is how a command ended.
type Result struct {
	ExitCode int    // -1: did not exit by itself
	Signal   string // "SIGSEGV" when one ended it; mostly it shows as exit code 128+n
	TimedOut Limit  // the limit that ended it; empty: none
	Limit    time.Duration
	Output   []byte // standard output and error as they came: the first and the last part, a line between them saying how much is missing
	Dropped  int64  // bytes missing from Output
	Duration time.Duration
	Mode     Mode     // empty: of the zero Sandbox
	Refused  []string // what the proxy refused, each once: "HOST:PORT: why"
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
	case r.TimedOut != "":
		return fmt.Sprintf("stopped: it took more than it may (%s limit)", r.TimedOut)
	case r.Signal != "":
		return "ended by " + r.Signal
	case r.ExitCode > 128 && signalName(r.ExitCode-128) != "":
		// A shell, or bubblewrap, reports the signal of its child so.
		return fmt.Sprintf("exit code %d (%s)", r.ExitCode, signalName(r.ExitCode-128))
	}
	return fmt.Sprintf("exit code %d", r.ExitCode)
}
